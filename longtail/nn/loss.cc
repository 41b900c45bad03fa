#include "longtail/nn/loss.h"

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::nn {
namespace {

// -log softmax(logits)[label]; its gradient is softmax(logits) - onehot(label).
class CrossEntropy : public Loss {
 public:
  std::string name() const override { return "cross_entropy"; }

  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    const double top = *std::max_element(logits.begin(), logits.end());
    double total = 0;
    for (const float logit : logits) total += std::exp(logit - top);
    const double log_total = std::log(total) + top;
    for (std::size_t k = 0; k < logits.size(); ++k) {
      gradient[k] = static_cast<float>(std::exp(logits[k] - log_total));
    }
    const auto at = static_cast<std::size_t>(label);
    gradient[at] -= 1.0f;
    return log_total - logits[at];
  }
};

}  // namespace

std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t>) {
  static const std::vector<std::string> names = {"cross_entropy"};
  if (text == "cross_entropy") return std::make_unique<CrossEntropy>();
  base::fail("unknown loss `{}`{}; there are {}", text, base::did_you_mean(text, names),
             base::join(names, ", "));
}

}  // namespace longtail::nn
