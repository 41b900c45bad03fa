#include "longtail/sampling/strategy.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

const base::Family<Strategy()>& family() {
  static const base::Family<Strategy()> all(
      "strategy", {uniform(), class_balanced(), square_root(), progressive(), power(), effective_number(),
                   repeat_factor(), deferred(), stratified(), adaptive(), focus()});
  return all;
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view text) { return family().make(text); }

std::string canonical_strategy(std::string_view text) { return make_strategy(text)->name(); }

const std::vector<base::VariantInfo>& strategies() { return family().infos(); }

Deferral deferral_between(std::string first, int epoch, const std::optional<Deferral>& before,
                          const std::optional<Deferral>& after) {
  Deferral change{std::move(first), epoch, {}};
  if (before) change.changes = before->changes;
  change.changes.push_back(epoch);
  if (after) change.changes.insert(change.changes.end(), after->changes.begin(), after->changes.end());
  return change;
}

void refuse_late_change(std::string_view param, std::string_view text, const std::optional<Deferral>& change,
                        int epochs) {
  if (!change) return;
  const std::vector<int>& changes = change->changes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i] >= epochs) {
      base::fail<base::UsageError>(
          "`{}` is `{}`, which changes at epoch {}, but the last of {} epochs is {} (counted from 0); use an "
          "earlier `at`, or a part of the training (at=0.8)",
          param, text, changes[i], epochs, epochs - 1);
    }
    if (i > 0 && changes[i] <= changes[i - 1]) {
      base::fail<base::UsageError>(
          "`{}` is `{}`, whose parts change at epoch {} and next at epoch {}, so one of them never comes; "
          "give each change a later `at` than the one before it",
          param, text, changes[i - 1], changes[i]);
    }
  }
}

void refuse_feedback(const Strategy& strategy) {
  if (strategy.feedback() == Feedback::kNone) return;
  base::fail<base::UsageError>(
      "strategy `{}` depends on the accuracies of the classes during a training, so it cannot be computed "
      "ahead of one; `longtail train` runs it, and the log of the run has what it saw",
      strategy.name());
}

void check_history(const Strategy& strategy, std::span<const std::int64_t> counts,
                   const Situation& situation) {
  const auto epochs = static_cast<std::size_t>(std::max(situation.epoch, 0));
  bool whole = situation.class_accuracy.size() >= epochs;
  for (std::size_t e = 0; whole && e < epochs; ++e)
    whole = situation.class_accuracy[e].size() == counts.size();
  if (whole) return;
  base::fail("strategy `{}` at epoch {} needs the accuracy of each of the {} classes after each epoch before",
             strategy.name(), situation.epoch, counts.size());
}

std::int64_t images_of(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t classes_with_images(std::span<const std::int64_t> counts) {
  return std::count_if(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; });
}

}  // namespace longtail::sampling
