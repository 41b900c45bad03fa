#include "longtail/data/registry.h"
#include "longtail/train/run.h"

namespace longtail::train {

std::shared_ptr<const data::Dataset> load_run_dataset(const RunConfig& config) {
  return std::make_shared<const data::Dataset>(data::load_dataset(config.dataset, config.data));
}

}  // namespace longtail::train
