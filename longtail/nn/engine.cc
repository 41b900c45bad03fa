#include "longtail/nn/engine.h"

#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/nn/amx/amx_engine.h"
#include "longtail/nn/onednn/engine.h"
#include "longtail/nn/reference_engine.h"

namespace longtail::nn {

std::string resolve_engine(std::string_view kind) {
  static const std::vector<std::string> kinds = {"auto", "amx", "amx-fine", "onednn", "reference"};
  std::string why;
  if (kind == "auto") return amx_available(&why) ? "amx" : "onednn";
  if (kind.starts_with("amx") && !amx_available(&why)) {
    base::fail("the amx engine cannot run here: {}; use --engine onednn, or auto for the fastest there is",
               why);
  }
  for (const std::string& known : kinds) {
    if (kind == known) return known;
  }
  base::fail("unknown engine `{}`{}; there are {}", kind, base::did_you_mean(kind, kinds),
             base::join(kinds, ", "));
}

std::unique_ptr<Engine> make_engine(std::string_view kind, const ResNetSpec& spec, int max_batch,
                                    base::ThreadPool& pool) {
  if (max_batch < 1) base::fail("an engine for batches of {} images; at least 1 is needed", max_batch);
  const std::string name = resolve_engine(kind);
  if (name == "amx") return make_amx_engine(spec, max_batch, pool);
  if (name == "amx-fine") return make_amx_engine(spec, max_batch, pool, AmxPrecision::kFine);
  if (name == "onednn") return onednn::make_onednn_engine(spec, max_batch, pool);
  return make_reference_engine(spec, max_batch);
}

void check_batch(const ResNetSpec& spec, const Batch& batch, int max_batch, bool with_labels) {
  if (batch.size < 1 || batch.size > max_batch) {
    base::fail("a batch of {} images; this engine takes 1 to {}", batch.size, max_batch);
  }
  if (!with_labels) return;
  if (batch.labels.size() != static_cast<std::size_t>(batch.size)) {
    base::fail("a batch of {} images with {} labels; there must be one a image", batch.size,
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
