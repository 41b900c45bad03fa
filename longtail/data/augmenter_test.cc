#include "longtail/data/augmenter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/base/error.h"
#include "longtail/data/augment.h"

namespace longtail::data {
namespace {

using testing::HasSubstr;

std::string refusal(const char* text) {
  try {
    Augmenter::parse(text);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

TEST(Augmenter, HasOneNameHoweverItIsWritten) {
  EXPECT_EQ(Augmenter::parse("crop_flip").name(), "crop_flip");
  EXPECT_EQ(Augmenter::parse("none").name(), "none");
  EXPECT_EQ(Augmenter::parse(" crop_flip + mixup:alpha=0.20").name(), "crop_flip+mixup");
  EXPECT_EQ(Augmenter::parse("mixup:alpha=1+crop_flip").name(), "crop_flip+mixup:alpha=1");
  EXPECT_EQ(Augmenter::parse("none+remix(kappa=2)").name(), "remix:kappa=2");
}

TEST(Augmenter, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("crop_flip+mixup+cutmix"), HasSubstr("an image is mixed in one way at most"));
  EXPECT_THAT(refusal("crop_flip+mixpu"), HasSubstr("did you mean `mixup`?"));
  EXPECT_THAT(refusal("mixup:alpha=0"), HasSubstr("from 0.01 to 4"));
  EXPECT_THAT(refusal("crop_flip+"), HasSubstr("unknown augmentation ``"));
}

// Beta(a, a) has mean 1/2 and variance 1 / (4 (2 a + 1)).
TEST(Augmenter, TheWeightHasTheMeanAndVarianceOfItsBetaDistribution) {
  for (const double alpha : {0.2, 1.0, 2.0}) {
    constexpr int kDraws = 20000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double l = beta_at({42, 3, static_cast<std::uint64_t>(i)}, alpha);
      ASSERT_GE(l, 0);
      ASSERT_LE(l, 1);
      sum += l;
      squares += (l - 0.5) * (l - 0.5);
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_NEAR(sum / kDraws, 0.5, 4 * std::sqrt(variance / kDraws)) << alpha;
    EXPECT_NEAR(squares / kDraws, variance, 4 * 0.1 / std::sqrt(kDraws)) << alpha;
  }
}

TEST(Augmenter, PartnersAreSpreadOverTheEpochAndDoNotFollowTheWeight) {
  std::vector<int> times(10);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const std::uint64_t partner = Augmenter::partner({7, 0, i}, 1000);
    ASSERT_LT(partner, 1000u);
    ++times[partner / 100];
  }
  for (const int count : times) EXPECT_NEAR(count, 1000, 130);
}

TEST(Augmenter, CutmixGivesTheLabelTheAreaThatIsLeft) {
  const Augmenter cutmix = Augmenter::parse("cutmix");
  double area = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Mix mix = cutmix.mix({1, 2, i}, 32, 1, 1);
    ASSERT_GE(mix.top, 0);
    ASSERT_LE(mix.bottom, 32);
    ASSERT_EQ(mix.pixels, 1);
    ASSERT_FLOAT_EQ(mix.label,
                    1 - static_cast<float>((mix.bottom - mix.top) * (mix.right - mix.left)) / 1024);
    area += 1 - mix.label;
  }
  EXPECT_GT(area / 2000, 0.2);
  EXPECT_LT(area / 2000, 0.5);
}

TEST(Augmenter, RemixKeepsTheLabelOfAMuchRarerClass) {
  const Augmenter remix = Augmenter::parse("remix:kappa=3,tau=0.5");
  int first_rare = 0, second_rare = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Place place{1, 2, i};
    const Mix plain = remix.mix(place, 32, 100, 100);
    EXPECT_EQ(plain.label, plain.pixels);
    const Mix common = remix.mix(place, 32, 300, 100), rare = remix.mix(place, 32, 100, 300);
    EXPECT_EQ(common.label, plain.pixels < 0.5F ? 0 : plain.pixels);
    EXPECT_EQ(rare.label, 1 - plain.pixels < 0.5F ? 1 : plain.pixels);
    second_rare += common.label == 0;
    first_rare += rare.label == 1;
  }
  EXPECT_NEAR(first_rare, 500, 70);
  EXPECT_NEAR(second_rare, 500, 70);
}

TEST(Blend, WeighsPixelsAndCopiesTheBoxInBothLayouts) {
  Mix mix;
  mix.pixels = 0.25F;
  mix.top = 0, mix.bottom = 1, mix.left = 0, mix.right = 2;
  std::vector<float> first(2 * 4 * 4, 8.0F), second(2 * 4 * 4, 16.0F);
  blend(mix, PixelLayout::kNchwF32, 2, 4, first.data(), second.data());
  EXPECT_EQ(first[0], 16);
  EXPECT_EQ(first[1], 16);
  EXPECT_EQ(first[2], 14);
  EXPECT_EQ(first[16], 16);  // the box in the second channel
  EXPECT_EQ(first[31], 14);
  std::vector<std::uint16_t> narrow(2 * 4 * 4, to_bf16(8.0F)), other(2 * 4 * 4, to_bf16(16.0F));
  blend(mix, PixelLayout::kNhwcBf16, 2, 4, narrow.data(), other.data());
  EXPECT_EQ(narrow[3], to_bf16(16.0F));
  EXPECT_EQ(narrow[4], to_bf16(14.0F));
}

}  // namespace
}  // namespace longtail::data
