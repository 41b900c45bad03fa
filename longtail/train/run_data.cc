#include "longtail/train/run_data.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/train/compact.h"
#include "longtail/train/evaluate.h"
#include "longtail/train/hold_out.h"

namespace longtail::train {
namespace {

using base::fail;

// "Training on 10,847 images of 100 classes (500 to 5 each)."
std::string images_words(const std::vector<std::int64_t>& counts, std::int64_t held_out) {
  std::vector<std::int64_t> trained;
  std::copy_if(counts.begin(), counts.end(), std::back_inserter(trained),
               [](std::int64_t n) { return n > 0; });
  const data::CountStatistics sizes = data::count_statistics(trained);
  return fmt::format("Training on {} images of {} classes ({} to {} each){}.", base::with_commas(sizes.total),
                     base::with_commas(static_cast<std::int64_t>(trained.size())),
                     base::with_commas(sizes.max), base::with_commas(sizes.min),
                     held_out > 0 ? fmt::format("; {} more are held out", base::with_commas(held_out)) : "");
}

// The images that choose the best epoch must exist.
void check_selection(const RunConfig& config, const RunData& run) {
  if (config.select != "tail") return;
  const auto tested = run.validation.size() > 0
                          ? run.validation.counts
                          : data::count_labels(run.set->test.labels, run.set->classes());
  for (std::size_t k = 0; k < tested.size(); ++k) {
    if (run.groups[k] == data::Group::kTail && run.subset.counts[k] > 0 && tested[k] > 0) return;
  }
  fail(
      "`select` is tail, but no class of the tail has images to choose on; choose by balanced, or other "
      "`groups`");
}

}  // namespace

RunData load_run_data(const RunConfig& config, const RunOptions& options) {
  const auto say = [&](const std::string& sentence) {
    if (options.on_note) options.on_note(sentence);
  };
  RunData run;
  std::shared_ptr<data::Dataset> own;
  if (!options.dataset) {
    own = std::make_shared<data::Dataset>(options.load ? options.load(config) : read_run_dataset(config));
    run.set = own;
  } else {
    run.set = options.dataset;
  }
  for (const std::string& remark : run.set->remarks) say(remark);
  const data::Subset whole =
      data::make_subset(config.subset, run.set->train.labels, run.set->classes(), config.seed);
  run.groups = data::Groups::parse(config.subset.groups).of(whole.counts);
  run.test_rows = learnable_rows(run.set->test, whole.counts);
  run.subset = whole;
  const double fraction = decided_fraction(config.val_fraction, whole.counts, run.groups);
  if (fraction > 0) {
    HeldOut parts = hold_out(whole, fraction, config.seed);
    run.subset = std::move(parts.training);
    run.validation = std::move(parts.validation);
  }
  check_batch(config, run.subset.size());
  check_selection(config, run);
  run.subset_hash = run.subset.hash();
  say(images_words(run.subset.counts, run.validation.size()));
  if (own) keep_images_of(*own, {&run.subset, &run.validation});
  if (run.set->side != config.image_size) {
    fail("the data set {} was loaded with images of {} by {} pixels, but `image_size` is {}", config.dataset,
         run.set->side, run.set->side, config.image_size);
  }
  return run;
}

}  // namespace longtail::train
