#include "longtail/nn/engine.h"

#include "longtail/base/error.h"

namespace longtail::nn {

void check_batch(const ResNetSpec& spec, const Batch& batch, int max_batch, bool with_labels) {
  if (batch.size < 1 || batch.size > max_batch) {
    base::fail("a batch of {} images; this engine takes 1 to {}", batch.size, max_batch);
  }
  if (!with_labels) return;
  if (batch.labels.size() != static_cast<std::size_t>(batch.size)) {
    base::fail("a batch of {} images with {} labels; there must be one per image", batch.size,
               batch.labels.size());
  }
  if (batch.second.size() != batch.weight.size() ||
      (!batch.second.empty() && batch.second.size() != batch.labels.size())) {
    base::fail(
        "a batch of {} images with {} second labels and {} weights; there must be one per image or none",
        batch.size, batch.second.size(), batch.weight.size());
  }
  if (!batch.hits.empty() && batch.hits.size() != batch.labels.size()) {
    base::fail("a batch of {} images with room for {} hits; there must be one per image", batch.size,
               batch.hits.size());
  }
  for (const std::span<const std::int32_t> labels : {batch.labels, batch.second}) {
    for (const std::int32_t label : labels) {
      if (label >= 0 && label < spec.classes) continue;
      base::fail("label {} in a batch for a network of {} classes; labels are 0 to {}", label, spec.classes,
                 spec.classes - 1);
    }
  }
  for (const float weight : batch.weight) {
    if (!(weight >= 0 && weight <= 1))
      base::fail("a first label with weight {}; it must be from 0 to 1", weight);
  }
}

}  // namespace longtail::nn
