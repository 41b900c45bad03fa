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

// Its name() is the text for a study file, without parameters that have their default: "focal:gamma=1.5".
class Loss : public base::Chosen {
 public:
  using Chosen::Chosen;

  // One image: returns its loss and writes d(loss)/d(logits), not yet divided by the batch size. Must be safe
  // to call from several threads.
  virtual double value(std::span<const float> logits, std::int32_t label,
                       std::span<float> gradient) const = 0;

  // The loss to use in an epoch: itself, unless it changes during training. Lives as long as this object.
  virtual const Loss& at(const sampling::Situation&) const { return *this; }

  // When it changes, in a training of this many epochs; none if it is the same loss throughout.
  virtual std::optional<sampling::Deferral> deferral(int /*epochs*/) const { return std::nullopt; }

  // The factor on the logits before the softmax turns them into probabilities, whatever the classifier: a
  // network that was trained with the factor has logits that are too small by it. It is not 1 for losses that
  // are made for cosines.
  virtual double logit_scale() const { return 1; }
};

// From a name, with parameters or without: "focal", "focal:gamma=1.5"; docs/training.md has the formulas.
// `class_counts` are those of the training subset; empty only to check a text. An Error lists the choices.
std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t> class_counts);

// "cross_entropy | class_weighted:power=1 | ...", for help.
std::string loss_choices();
// Every loss with its parameters and a sentence.
const std::vector<base::VariantInfo>& losses();

// The text with defaults left out: "focal:gamma=2" is "focal".
std::string canonical_loss(std::string_view text);

}  // namespace longtail::nn
