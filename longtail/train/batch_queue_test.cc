#include "longtail/train/batch_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>

#include "longtail/base/error.h"
#include "longtail/train/testing.h"

namespace longtail::train {
namespace {

TEST(BatchQueue, GivesEveryBatchOnceAndInOrder) {
  BatchQueue queue(5, 4, [](int number, BatchQueue::Slot& slot) {
    slot.labels = {number};
    std::memcpy(slot.images.data(), &number, 4);
  });
  for (int expected = 0; expected < 5; ++expected) {
    const BatchQueue::Slot* slot = queue.next();
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->labels[0], expected);
    int number = -1;
    std::memcpy(&number, slot->images.data(), 4);
    EXPECT_EQ(number, expected);
  }
  EXPECT_EQ(queue.next(), nullptr);
  EXPECT_EQ(queue.next(), nullptr);
}

TEST(BatchQueue, PreparesTheNextBatchWhileOneIsUsed) {
  std::atomic<int> made{0};
  BatchQueue queue(3, 4, [&](int number, BatchQueue::Slot&) {
    made = number + 1;
    made.notify_all();
  });
  ASSERT_NE(queue.next(), nullptr);
  made.wait(1);  // would hang if the second were made only when asked for
  EXPECT_EQ(made, 2);
  EXPECT_NE(queue.next(), nullptr);
}

TEST(BatchQueue, HandsOnWhatWentWrongAndCanBeLeftHalfWay) {
  BatchQueue queue(3, 4, [](int number, BatchQueue::Slot&) {
    if (number == 1) base::fail("no more");
  });
  EXPECT_NE(queue.next(), nullptr);
  EXPECT_THROW(queue.next(), base::Error);
  const BatchQueue unused(100, 4, [](int, BatchQueue::Slot&) {});
  BatchQueue none(0, 4, [](int, BatchQueue::Slot&) {});
  EXPECT_EQ(none.next(), nullptr);
}

TEST(TrainingSource, APositionHasTheStreamsImageUnderThePositionsTransform) {
  const data::Dataset data = toy_dataset(3, 10, 1);
  data::SubsetConfig config;
  config.rho = 2;
  const data::Subset subset = data::make_subset(config, data.train.labels, 3, 42);
  const auto layout = data::PixelLayout::kNchwF32;
  const TrainingSource source{data, subset, layout, 4, data::Augmenter::parse("crop_flip"), 42};
  const auto strategy = sampling::make_strategy("class_balanced");
  const sampling::Situation situation{.epoch = 3, .epochs = 10};
  const sampling::IndexStream stream(*strategy, subset.counts, situation, 42);
  const auto queue = source.epoch(*strategy, situation);
  const std::size_t bytes = data::bytes_per_image(layout, {3, 32});
  std::vector<std::byte> expected(bytes);
  std::int64_t position = 0;
  while (const BatchQueue::Slot* slot = queue->next()) {
    ASSERT_EQ(slot->labels.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i, ++position) {
      const std::int32_t row = subset.indices[static_cast<std::size_t>(stream.at(position))];
      EXPECT_EQ(slot->labels[i], data.train.labels[static_cast<std::size_t>(row)]);
      data::write_image(data, data.image(data.train, row),
                        data::transform_at(42, 3, static_cast<std::uint64_t>(position)), layout,
                        expected.data());
      EXPECT_EQ(std::memcmp(slot->images.data() + i * bytes, expected.data(), bytes), 0) << position;
    }
  }
  EXPECT_EQ(position, subset.size() / 4 * 4);  // the incomplete batch is dropped
  EXPECT_NE(subset.size() % 4, 0);
}

// The slow twin: image and partner written one by one, mixed pixel by pixel.
TEST(TrainingSource, AMixedPositionIsItsImageAndItsPartnersUnderTheirOwnTransforms) {
  const data::Dataset data = toy_dataset(3, 10, 1);
  data::SubsetConfig config;
  config.rho = 2;
  const data::Subset subset = data::make_subset(config, data.train.labels, 3, 42);
  const auto layout = data::PixelLayout::kNchwF32;
  for (const char* text : {"crop_flip+mixup:alpha=0.4", "cutmix", "crop_flip+remix:kappa=1.5"}) {
    const data::Augmenter augmenter = data::Augmenter::parse(text);
    const TrainingSource source{data, subset, layout, 4, augmenter, 42};
    const auto strategy = sampling::make_strategy("class_balanced");
    const sampling::Situation situation{.epoch = 3, .epochs = 10};
    const sampling::IndexStream stream(*strategy, subset.counts, situation, 42);
    const auto queue = source.epoch(*strategy, situation);
    const std::size_t bytes = data::bytes_per_image(layout, data.shape());
    const auto written = [&](std::uint64_t position) {
      const std::int32_t row =
          subset.indices[static_cast<std::size_t>(stream.at(static_cast<std::int64_t>(position)))];
      std::vector<float> image(bytes / sizeof(float));
      const data::Transform transform =
          augmenter.crops_and_flips() ? data::transform_at(42, 3, position) : data::Transform{};
      data::write_image(data, data.image(data.train, row), transform, layout, image.data());
      return std::pair(image, data.train.labels[static_cast<std::size_t>(row)]);
    };
    std::uint64_t position = 0;
    int mixed = 0;
    while (const BatchQueue::Slot* slot = queue->next()) {
      for (std::size_t i = 0; i < 4; ++i, ++position) {
        const std::uint64_t partner =
            data::Augmenter::partner({42, 3, position}, static_cast<std::uint64_t>(source.steps() * 4));
        const auto [first, label] = written(position);
        const auto [second, other] = written(partner);
        const data::Mix mix =
            augmenter.mix({42, 3, position}, data::kSide, subset.counts[static_cast<std::size_t>(label)],
                          subset.counts[static_cast<std::size_t>(other)]);
        EXPECT_EQ(slot->labels[i], label) << text;
        EXPECT_EQ(slot->second[i], other) << text;
        EXPECT_EQ(slot->weight[i], mix.label) << text;
        mixed += mix.label < 1;
        const auto* pixels = reinterpret_cast<const float*>(slot->images.data() + i * bytes);
        for (int p = 0; p < 3 * data::kPixels; ++p) {
          const int y = p % data::kPixels / data::kSide, x = p % data::kSide;
          const bool inside = y >= mix.top && y < mix.bottom && x >= mix.left && x < mix.right;
          const float weight = inside ? 0 : mix.pixels;
          const auto at = static_cast<std::size_t>(p);
          ASSERT_NEAR(pixels[p], weight * first[at] + (1 - weight) * second[at], 1e-6) << text << " " << p;
        }
      }
    }
    EXPECT_GT(mixed, 0) << text;
  }
}

TEST(PlainBatches, HaveEveryImageOnceAndTheRestInAShorterBatch) {
  const data::Dataset data = toy_dataset(2, 1, 5);
  const auto queue = plain_batches(data, data.test, {}, data::PixelLayout::kNchwF32, 4);
  std::vector<std::int32_t> labels;
  std::vector<std::size_t> sizes;
  while (const BatchQueue::Slot* slot = queue->next()) {
    sizes.push_back(slot->labels.size());
    labels.insert(labels.end(), slot->labels.begin(), slot->labels.end());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 4, 2}));
  EXPECT_EQ(labels, data.test.labels);
}

}  // namespace
}  // namespace longtail::train
