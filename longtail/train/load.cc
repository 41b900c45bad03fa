#include "longtail/data/registry.h"
#include "longtail/train/run.h"

namespace longtail::train {

data::PictureOptions picture_options(const RunConfig& config) {
  return {data::parse_fit(config.fit), config.skip_unreadable, config.image_size};
}

std::shared_ptr<const data::Dataset> load_run_dataset(const RunConfig& config) {
  return std::make_shared<const data::Dataset>(
      data::load_dataset(config.dataset, config.data, picture_options(config)));
}

}  // namespace longtail::train
