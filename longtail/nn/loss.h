// A loss: logits and labels in, loss and gradient of the logits out. One file per loss in nn/loss/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/spec.h"
#include "longtail/sampling/strategy.h"

namespace longtail::nn {

// Its name() is as it is written in a study file, parameters at their default left out: "focal:gamma=1.5".
class Loss : public base::Chosen {
 public:
  using Chosen::Chosen;

  // One image: returns its loss and writes d(loss)/d(logits), not yet divided by the batch size. Must be safe
  // to call from several threads.
  virtual double value(std::span<const float> logits, std::int32_t label,
                       std::span<float> gradient) const = 0;

  // The loss to take in an epoch: itself, unless it changes during training. Lives as long as this one.
  virtual const Loss& at(const sampling::Situation&) const { return *this; }

  // In a training of so many epochs; none unless it is another loss until an epoch.
  virtual std::optional<sampling::Deferral> deferral(int /*epochs*/) const { return std::nullopt; }

  // What logits are multiplied by before the softmax makes probabilities of them, whatever the classifier: a
  // network that was trained with the factor has logits that are too small by it. Not 1 for losses that are
  // made for cosines.
  virtual double logit_scale() const { return 1; }
};

// From a name, with parameters or without: "focal", "focal:gamma=1.5"; docs/training.md has their formulas.
// `class_counts` are those of the training subset; empty only to check a text. An Error says what there is.
std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t> class_counts);

// "cross_entropy | class_weighted:power=1 | ...", for help.
std::string loss_choices();
// Every loss with its parameters and a sentence.
const std::vector<base::VariantInfo>& losses();

// The text with defaults left out: "focal:gamma=2" is "focal".
std::string canonical_loss(std::string_view text);

}  // namespace longtail::nn
