// A loss: logits and labels in, loss and gradient of the logits out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace longtail::nn {

class Loss {
 public:
  explicit Loss(std::string name) : name_(std::move(name)) {}
  virtual ~Loss() = default;
  const std::string& name() const { return name_; }

  // One image: returns its loss and writes d(loss)/d(logits), not yet divided by the batch size. Must be safe
  // to call from several threads.
  virtual double value(std::span<const float> logits, std::int32_t label,
                       std::span<float> gradient) const = 0;

 private:
  std::string name_;
};

// From a name, with a parameter or without: "focal", "focal:gamma=1.5". p is the softmax of the logits at the
// label.
//   cross_entropy            -log p
//   class_weighted:power=1   w_k times that, w_k proportional to n_k^-power and 1 in the mean over all
//   images: what the
//                            class-balanced sampler does by drawing, done by weighing
//   logit_adjusted:tau=1     -log p of logits + tau log(n_k / n) (Menon et al., 2021); predictions use the
//   logits as they
//                            are. With tau = 1 also known as balanced softmax
//   focal:gamma=2            (1 - p)^gamma times -log p (Lin et al., 2017)
// `class_counts` are those of the training subset. An Error says what there is.
std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t> class_counts);

// "cross_entropy | class_weighted:power=1 | ...", for help.
std::string loss_choices();

// The text with defaults left out: "focal:gamma=2" is "focal".
std::string canonical_loss(std::string_view text);

}  // namespace longtail::nn
