// A sampling strategy is a distribution over the classes in a situation: class counts and epoch in,
// probabilities out.
//
//   auto strategy = make_strategy("progressive:gamma=2");
//   std::vector<double> p = strategy->probabilities(counts, {.epoch = 160, .epochs = 200});
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/spec.h"

namespace longtail::sampling {

// What a strategy, or a loss, may know about a training.
struct Situation {
  int epoch = 0;   // counted from 0
  int epochs = 1;  // of the whole training
  // Accuracy of each class in percent after each epoch done, [epoch][class]; NaN for a class without images
  // to measure on. Only given to a strategy that asks for it (Strategy::feedback), else empty.
  std::vector<std::vector<double>> class_accuracy = {};
  int batch_size = 0;  // draws of a step; only for strategies that shape whole batches
};

// What the accuracies of a Situation are measured on; never the test set.
enum class Feedback {
  kNone,           // the strategy looks at epochs only
  kTrainingDraws,  // the training images as they were drawn and augmented during the epoch
  kHeldOut,        // the held-out part of the training subset
};

// Describes a choice that is one thing before an epoch and another from that epoch on (`deferred`).
struct Deferral {
  std::string first;  // what it is before that epoch
  int epoch = 0;      // the first epoch of the second, counted from 0
  std::vector<int> changes =
      {};  // the epochs of all changes, including those inside the parts, in the order of the parts
};

// The Deferral of a choice that is `first` before `epoch`. `before` and `after` are those of its two parts,
// if these change too.
Deferral deferral_between(std::string first, int epoch, const std::optional<Deferral>& before,
                          const std::optional<Deferral>& after);

// The epoch that `at` of a deferred choice means: `at` itself or, below 1, that part of the training, but at
// the latest the last epoch.
int epoch_of_change(double at, int epochs);

// Its name() is as written in a study file, parameters at their default left out: "power:q=0.25".
class Strategy : public base::Chosen {
 public:
  // Probability of each class, summing to 1; 0 for a class without images.
  virtual std::vector<double> probabilities(std::span<const std::int64_t> counts,
                                            const Situation& situation) const = 0;

  // True if an epoch is a permutation of the images (every image once) instead of draws with replacement.
  virtual bool without_replacement(const Situation&) const { return false; }

  // True if every batch has the declared shares as nearly as whole numbers allow (strata.h) instead of
  // independent draws. Needs the situation's batch size.
  virtual bool stratified(const Situation&) const { return false; }

  // Which accuracies of the classes it must be given.
  virtual Feedback feedback() const { return Feedback::kNone; }

  // The change in a training of this many epochs; nothing unless the strategy changes to another one.
  virtual std::optional<Deferral> deferral(int /*epochs*/) const { return std::nullopt; }
};

// Parses "name", "name:key=value,key=value" or "name(key=value,key=value)", the form inside another strategy:
// "deferred:first=uniform,then=progressive(gamma=2),at=100". An Error names what is wrong and what exists.
std::unique_ptr<Strategy> make_strategy(std::string_view text);

// Canonical text of a strategy: make_strategy(text)->name().
std::string canonical_strategy(std::string_view text);

// Every strategy with its parameters and a sentence, for --help, the documentation and other languages.
const std::vector<base::VariantInfo>& strategies();

// A UsageError if a change is beyond the last epoch, or not after the change before it: a part would never be
// used, and the run would be trained, and listed in tables, under a wrong name. `param` is the parameter that
// the text was given for: "strategy", "loss".
void refuse_late_change(std::string_view param, std::string_view text, const std::optional<Deferral>& change,
                        int epochs);

// For commands that work ahead of a training: a UsageError if the strategy needs feedback from one.
void refuse_feedback(const Strategy& strategy);

// K in the formulas of the strategies.
std::int64_t classes_with_images(std::span<const std::int64_t> counts);

}  // namespace longtail::sampling
