// Where a command takes its classes from: a data set by name, a file of labels, or a file of counts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "longtail/cli/app.h"
#include "longtail/data/subset.h"

namespace longtail::cli {

struct LabelSource {
  std::string dataset = "cifar100";
  std::string data_dir;     // --data
  std::string labels_file;  // --labels: one per line; the data set is then not needed
  bool skip_unreadable = false;

  void add_flags(App& command);
  // "cifar100" or the name of the file.
  const std::string& name() const { return labels_file.empty() ? dataset : labels_file; }
};

// Fills in what the flags leave to the data set (profile, groups). A list of labels or counts is cut as in
// the paper. A UsageError if --rho, --n-max, --class-order or --data was given to `command` but has no
// effect.
void decide_subset(const App& command, const LabelSource& source, data::SubsetConfig& subset);

// A UsageError if one of the flags was given together with --counts, where it has no effect.
void refuse_beside_counts(const App& command, std::initializer_list<const char*> flags);

// Labels of the training split and the names of the classes (their numbers if they have no names).
struct Labels {
  std::vector<std::int32_t> labels;
  std::vector<std::string> class_names;

  int classes() const { return static_cast<int>(class_names.size()); }
};
Labels load_labels(const LabelSource& source);

// Number of images per class before the profile cuts them. Loads no data where the published numbers are
// known.
struct Available {
  std::vector<std::int64_t> counts;
  std::vector<std::string> class_names;  // their numbers if no names are known
};
Available available_classes(const LabelSource& source);

// Reads a file with the number of images per class, one per line: none negative, at least one image in all.
std::vector<std::int64_t> read_counts(const std::string& path);

}  // namespace longtail::cli
