#include "longtail/train/compact.h"

#include <utility>

namespace longtail::train {

void keep_images_of(data::Dataset& data, std::initializer_list<data::Subset*> subsets) {
  data::Split kept;
  std::size_t images = 0;
  for (const data::Subset* subset : subsets) images += subset->indices.size();
  kept.labels.reserve(images);
  kept.pixels.reserve(images * data.image_bytes());
  for (data::Subset* subset : subsets) {
    for (std::int32_t& index : subset->indices) {
      const auto pixels = data.image(data.train, index);
      kept.pixels.insert(kept.pixels.end(), pixels.begin(), pixels.end());
      kept.labels.push_back(data.train.labels[static_cast<std::size_t>(index)]);
      index = static_cast<std::int32_t>(kept.labels.size() - 1);
    }
  }
  data.train = std::move(kept);
}

}  // namespace longtail::train
