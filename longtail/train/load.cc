#include "longtail/data/registry.h"
#include "longtail/train/run.h"

namespace longtail::train {

data::PictureOptions picture_options(const RunConfig& config) {
  return {data::parse_fit(config.fit), config.skip_unreadable, config.image_size};
}

data::Dataset read_run_dataset(const RunConfig& config) {
  return data::load_dataset(config.dataset, config.data, picture_options(config));
}

std::shared_ptr<const data::Dataset> load_run_dataset(const RunConfig& config) {
  return std::make_shared<const data::Dataset>(read_run_dataset(config));
}

}  // namespace longtail::train
