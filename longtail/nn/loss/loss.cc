#include "longtail/nn/loss.h"

#include "longtail/nn/loss/kind.h"

namespace longtail::nn {
namespace {

const base::Family<Loss(ClassCounts)>& family() {
  static const base::Family<Loss(ClassCounts)> all(
      "loss", {cross_entropy(), class_weighted(), logit_adjusted(), focal(), deferred_loss(), ldam(),
               vector_scaling(), label_smoothing(), label_aware_smoothing()});
  return all;
}

}  // namespace

std::unique_ptr<Loss> make_loss(std::string_view text, std::span<const std::int64_t> class_counts) {
  return family().make(text, class_counts);
}

std::string loss_choices() { return family().choices(); }

const std::vector<base::VariantInfo>& losses() { return family().infos(); }

std::string canonical_loss(std::string_view text) { return make_loss(text, {})->name(); }

}  // namespace longtail::nn
