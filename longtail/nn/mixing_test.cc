// Mixed images and their losses against PyTorch (testdata/make_mixing.py).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/data/augmenter.h"
#include "longtail/nn/image_loss.h"

namespace longtail::nn {
namespace {

constexpr int kSide = 16;
const std::vector<std::int64_t> kCounts = {500, 120, 40, 11, 5, 3};

std::vector<float> image(int start) {
  std::vector<float> values;
  for (int i = 0; i < 3 * kSide * kSide; ++i)
    values.push_back(static_cast<float>(((start * 37 + i * 11) % 101 - 50) / 25.0));
  return values;
}

const nlohmann::json& cases() {
  static const auto file =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/mixing.json"));
  return file;
}

TEST(Mixing, PixelsAreThoseOfPyTorch) {
  ASSERT_EQ(cases().size(), 8u);
  for (const auto& c : cases()) {
    data::Mix mix;
    mix.pixels = c["weight"].get<float>();
    mix.top = c["box"][0], mix.left = c["box"][1], mix.bottom = c["box"][2], mix.right = c["box"][3];
    std::vector<float> first = image(c["first"].get<int>());
    const std::vector<float> second = image(c["second"].get<int>() + 10);
    data::blend(mix, data::PixelLayout::kNchwF32, 3, kSide, first.data(), second.data());
    for (std::size_t i = 0; i < first.size(); i += 53)
      EXPECT_NEAR(first[i], c["pixels"][i / 53].get<double>(), 1e-6) << c["kind"] << " value " << i;
  }
}

TEST(Mixing, TheLossOfTwoLabelsAndItsGradientAreThoseOfPyTorch) {
  for (const auto& c : cases()) {
    const std::vector<std::int32_t> first = {c["first"].get<std::int32_t>()},
                                    second = {c["second"].get<std::int32_t>()};
    const std::vector<float> weight = {c["label"].get<float>()};
    const std::vector<float> logits = {0.5F, -2.0F, 3.25F, 0.0F, 1.0F, -0.75F};
    std::vector<float> gradient(logits.size());
    const Batch batch{.labels = first, .size = 1, .second = second, .weight = weight};
    bool hit = false;
    const double value =
        image_loss(*make_loss(c["loss"].get<std::string>(), kCounts), batch, 0, logits, gradient, hit);
    EXPECT_NEAR(value, c["value"].get<double>(), 1e-6) << c["kind"];
    for (std::size_t k = 0; k < gradient.size(); ++k)
      EXPECT_NEAR(gradient[k], c["gradient"][k].get<double>(), 1e-6) << c["kind"];
    EXPECT_EQ(hit, main_label(batch, 0) == 2);
    EXPECT_EQ(main_label(batch, 0), weight[0] >= 0.5F ? first[0] : second[0]);
  }
}

// Remix's label is a function of the weight drawn and of the sizes of both classes; the file's rule says
// which.
TEST(Mixing, TheLabelOfRemixIsTheOneOfPyTorchOnTheSameSideOfItsThreshold) {
  const data::Augmenter remix = data::Augmenter::parse("remix:kappa=3,tau=0.5");
  int compared = 0;
  for (const auto& c : cases()) {
    if (c["kind"] != "remix") continue;
    const auto n1 = kCounts[c["first"].get<std::size_t>()], n2 = kCounts[c["second"].get<std::size_t>()];
    for (std::uint64_t position = 0; position < 200; ++position) {
      const data::Mix mix = remix.mix({1, 0, position}, kSide, n1, n2);
      if ((mix.pixels < 0.5F) != (c["weight"].get<float>() < 0.5F)) continue;
      const bool alone = c["label"] != c["weight"];
      EXPECT_EQ(mix.label, alone ? c["label"].get<float>() : mix.pixels);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace longtail::nn
