#include "longtail/cli/class_counts.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/data/published.h"
#include "longtail/data/registry.h"

namespace longtail::cli {
namespace {

// With more classes than this it is the wrong file (of image indices, say), not a data set.
constexpr std::int64_t kMostClasses = 10'000'000;
constexpr std::int64_t kMostImages = 1'000'000'000'000;  // per class

std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace

void LabelSource::add_flags(App& command) {
  command.add_option("--dataset", dataset, "The data set; `longtail data list` shows them")
      ->capture_default_str();
  command.add_option("--data", data_dir, "Folder of the data; else the usual places are searched")
      ->type_name("DIR")
      ->may_be_empty();
  command
      .add_option("--labels", labels_file,
                  "Labels of your own instead of a data set: one whole number per line, classes counted from "
                  "0. They are cut like a published data set; --profile natural takes them as they are")
      ->type_name("FILE")
      ->excludes("--dataset")
      ->excludes("--data");
  command.add_flag("--skip-unreadable", skip_unreadable, "Leave out pictures that cannot be read")
      ->excludes("--labels");
}

void decide_subset(const App& command, const LabelSource& source, data::SubsetConfig& subset) {
  subset = data::decided(subset, source.labels_file.empty() ? source.dataset : "cifar100");
  data::refuse_idle_cut(subset, source.dataset, command.count("--rho") > 0);
  data::refuse_idle_dir(source.dataset, source.data_dir);
}

void refuse_beside_counts(const App& command, std::initializer_list<const char*> flags) {
  for (const char* flag : flags) {
    if (command.count(flag) == 0) continue;
    base::fail<base::UsageError>(
        "--counts takes the images of each class from a file as they are, so {} would do nothing; leave one "
        "of the two out",
        flag);
  }
}

Labels load_labels(const LabelSource& source) {
  if (source.labels_file.empty()) {
    data::PictureOptions pictures;
    pictures.skip_unreadable = source.skip_unreadable;
    data::Dataset dataset = data::load_dataset(source.dataset, source.data_dir, pictures);
    for (const std::string& remark : dataset.remarks)
      fmt::print(stderr, "{}\n", base::quote::terminal(remark));
    return {std::move(dataset.train.labels), std::move(dataset.class_names)};
  }
  const std::vector<std::int64_t> numbers_read = data::read_numbers(source.labels_file);
  if (numbers_read.empty()) base::fail("{}: it holds no labels", source.labels_file);
  const auto [low, high] = std::minmax_element(numbers_read.begin(), numbers_read.end());
  if (*low < 0 || *high >= kMostClasses) {
    base::fail("{}: label {} is out of range; classes are counted from 0", source.labels_file,
               *low < 0 ? *low : *high);
  }
  return {{numbers_read.begin(), numbers_read.end()}, numbers(static_cast<std::size_t>(*high) + 1)};
}

Available available_classes(const LabelSource& source) {
  const data::PublishedData* published = data::find_published(source.dataset);
  if (source.labels_file.empty() && published) {
    const bool named = published->class_names.size() == published->train_counts.size();
    return {published->train_counts,
            named ? published->class_names : numbers(published->train_counts.size())};
  }
  Labels labels = load_labels(source);
  return {data::count_labels(labels.labels, labels.classes()), std::move(labels.class_names)};
}

std::vector<std::int64_t> read_counts(const std::string& path) {
  std::vector<std::int64_t> counts = data::read_numbers(path);
  for (const std::int64_t count : counts) {
    if (count < 0 || count > kMostImages) base::fail("{}: {} is not a number of images", path, count);
  }
  if (std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) <= 0) {
    base::fail("{}: no images; write the images of each class, one number per line", path);
  }
  return counts;
}

}  // namespace longtail::cli
