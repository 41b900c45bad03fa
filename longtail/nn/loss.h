// A loss: logits and labels in, loss and gradient of the logits out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::nn {

class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string name() const = 0;

  // One image: returns its loss and writes d(loss)/d(logits), not yet divided by the batch size. Must be safe
  // to call from several threads.
  virtual double value(std::span<const float> logits, std::int32_t label,
                       std::span<float> gradient) const = 0;
};

// "cross_entropy"; losses that depend on the class sizes of the training subset get them here.
std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t> class_counts);

}  // namespace longtail::nn
