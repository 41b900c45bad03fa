#include "longtail/train/compact.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

TEST(Compact, TheImagesOfTheSubsetsStayAndNoOthers) {
  const data::Dataset whole = toy_dataset(3, 6, 2);
  const data::Subset first{{17, 3, 5}, {1, 1, 1}, {0, 1, 2}};
  const data::Subset second{{4}, {0, 1, 0}, {0, 0, 1}};
  data::Dataset small = whole;
  data::Subset a = first;
  data::Subset b = second;
  keep_images_of(small, {&a, &b});
  EXPECT_EQ(small.train.size(), 4);
  EXPECT_EQ(small.train.pixels.size(), 4 * whole.image_bytes());
  const auto compare = [&](const data::Subset& before, const data::Subset& after) {
    for (std::size_t i = 0; i < before.indices.size(); ++i) {
      const auto old_image = whole.image(whole.train, before.indices[i]);
      const auto new_image = small.image(small.train, after.indices[i]);
      EXPECT_TRUE(std::equal(old_image.begin(), old_image.end(), new_image.begin(), new_image.end())) << i;
      EXPECT_EQ(whole.train.labels[static_cast<std::size_t>(before.indices[i])],
                small.train.labels[static_cast<std::size_t>(after.indices[i])]);
    }
  };
  compare(first, a);
  compare(second, b);
  EXPECT_EQ(small.hash, whole.hash);
  EXPECT_EQ(small.test.pixels, whole.test.pixels);
}

}  // namespace
}  // namespace longtail::train
