// A long-tailed subset: which images of the training split are used. It holds indices, no pixels.
//
//   SubsetConfig config{.rho = 100};
//   Subset subset = make_subset(config, dataset.train.labels, dataset.classes(), seed);
//
// With the defaults it is the subset of the paper's Python code, image for image (docs/subsets.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/params.h"

namespace longtail::data {

// The parameters of a subset (section `data` of a study file). The seed is the run's.
struct SubsetConfig {
  std::string profile = "default";  // exp, step, natural, counts; default: by the data set, see decided()
  double rho = 100;                 // largest class over smallest
  int n_max = 0;                    // images in the largest class; 0: as many as the smallest full class has
  std::string counts_file = "";     // for profile counts: one number per line, in label order
  std::string class_order =
      "label";                     // label, shuffled, shuffled:SEED or a file of labels, largest class first
  std::string groups = "default";  // paper, field, auto or "A,B"; default: by the data set
};
base::ParamTable<SubsetConfig> subset_params();
// The configuration with `default` decided: profile exp and the paper's groups for the published data sets,
// profile natural and groups auto for your own. Undecided they count as exp and the paper's groups.
SubsetConfig decided(const SubsetConfig& config, std::string_view dataset);
// For a ratio that the user gave: a UsageError if the decided profile takes none.
void refuse_idle_ratio(const SubsetConfig& decided, std::string_view dataset);
// The same for everything that says how classes are cut: the ratio, if one was given, the largest size and
// the class order.
void refuse_idle_cut(const SubsetConfig& decided, std::string_view dataset, bool ratio_given);
// Whether the profile is cut to a given ratio (exp, step) rather than taken as it is (natural, counts).
bool takes_ratio(const SubsetConfig& config);
// Whether a class order is the name of a file.
bool is_order_file(std::string_view class_order);
// "rho 100", or the name of a profile that takes no ratio.
std::string severity(const SubsetConfig& config);

struct Subset {
  std::vector<std::int32_t> indices;  // into the training split, class after class
  std::vector<std::int64_t> counts;   // images of each class, by label
  // Images of class k are indices[first[k]] ... indices[first[k] + counts[k] - 1].
  std::vector<std::int64_t> first;

  std::int64_t size() const { return static_cast<std::int64_t>(indices.size()); }
  std::string hash() const;  // SHA-256 of the indices as little-endian 32-bit integers
};

// Number of images of each class under the profile, by label. `available` is what the data set has; an Error
// says which class has too few, or which parameter subset_params() does not allow. The seed matters only for
// the class order `shuffled`.
std::vector<std::int64_t> profile_counts(const SubsetConfig& config, std::span<const std::int64_t> available,
                                         std::int64_t seed = 0);

// The paper's construction: for each class by label the images in file order, shuffled by one NumPy
// RandomState(seed) carried through all classes; the first n_k are kept. So the subsets of one seed are
// nested: a class with fewer images keeps the first of those that it has under any other profile. The profile
// `natural` keeps every image, in file order.
Subset make_subset(const SubsetConfig& config, std::span<const std::int32_t> labels, int classes,
                   std::int64_t seed);

// Images of each class; an Error if a label is not in [0, classes).
std::vector<std::int64_t> count_labels(std::span<const std::int32_t> labels, int classes);

// What the paper's table of data sets says about class sizes. The median is the mean of the middle two.
struct CountStatistics {
  std::int64_t total = 0;
  std::int64_t max = 0;
  std::int64_t min = 0;
  double median = 0;
};
CountStatistics count_statistics(std::span<const std::int64_t> counts);

// Whole numbers of a text file, one per line; blank lines and what follows a # are skipped. An Error names
// the line.
std::vector<std::int64_t> read_numbers(const std::filesystem::path& path);

}  // namespace longtail::data
