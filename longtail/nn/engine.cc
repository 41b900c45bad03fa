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
  for (const std::int32_t label : batch.labels) {
    if (label < 0 || label >= spec.classes) {
      base::fail("label {} in a batch for a network of {} classes; labels are 0 to {}", label, spec.classes,
                 spec.classes - 1);
    }
  }
}

}  // namespace longtail::nn
