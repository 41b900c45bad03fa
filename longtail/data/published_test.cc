// The real data, where this machine has it.
#include <gtest/gtest.h>

#include <filesystem>

#include "longtail/data/registry.h"

namespace longtail::data {
namespace {

TEST(Published, FashionMnistOfTheDebianPackageIsWhatWasPublished) {
  const PublishedData& published = *find_published("fashion_mnist");
  if (!find_data(published, "/usr/share/datasets")) {
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  }
  Dataset data = load_dataset("fashion_mnist", "/usr/share/datasets");
  EXPECT_EQ(data.train.size(), 60000);
  EXPECT_EQ(data.test.size(), 10000);
  EXPECT_EQ(data.channels, 1);
  EXPECT_EQ(data.train.labels[0], 9);
  EXPECT_EQ(data.class_names[9], "Ankle boot");
  // The constants are of the 28x28 images; padding with black scales the first two moments by (28/32)^2.
  const double mean = data.mean[0], deviation = data.deviation[0], part = 28.0 * 28.0 / 1024.0;
  measure_channels(data);
  EXPECT_NEAR(data.mean[0], mean * part, 1e-4);
  EXPECT_NEAR(data.deviation[0] * data.deviation[0] + data.mean[0] * data.mean[0],
              (deviation * deviation + mean * mean) * part, 1e-4);
}

TEST(Published, EveryOneHasItsConstantsCountsAndChecksums) {
  for (const PublishedData& data : published_data()) {
    SCOPED_TRACE(data.name);
    EXPECT_EQ(find_published(data.name), &data);
    EXPECT_EQ(data.train_counts.size(), data.test_counts.size());
    for (int channel = 0; channel < data.channels; ++channel) {
      EXPECT_GT(data.mean[static_cast<std::size_t>(channel)], 0.0F);
      EXPECT_GT(data.deviation[static_cast<std::size_t>(channel)], 0.0F);
    }
    for (const RemoteFile& file : data.remote) {
      EXPECT_EQ(file.md5.size(), 32U);
      EXPECT_GT(file.size, 0U);
    }
  }
  EXPECT_EQ(find_published("cifar"), nullptr);
}

}  // namespace
}  // namespace longtail::data
