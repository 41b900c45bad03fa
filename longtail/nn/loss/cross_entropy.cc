// The cross-entropy of the softmax: -log p.
#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

class CrossEntropy final : public Loss {
 public:
  CrossEntropy(const base::NoParameters&, ClassCounts) {}
  double value(std::span<const float> logits, std::int32_t label, std::span<float> gradient) const override {
    return -log_softmax(logits, label, gradient);
  }
};

}  // namespace

LossKind cross_entropy() { return loss_kind<CrossEntropy>("cross_entropy", "-log p, the paper's."); }

}  // namespace longtail::nn
