// The amx engine on the golden steps of PyTorch in fp32, from the same weights on the same images.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/nn/amx/engine_testing.h"
#include "longtail/nn/sgd.h"

namespace longtail::nn::amx {
namespace {

// Rounding only the weights to bf16 turns the first gradient of PyTorch itself to a cosine of 0.9965,
// rounding activations and weights (its own bf16 autocast) to 0.993: values near the edge of a ReLU fall on
// the other side. docs/performance.md has the figures. Twice the bits in the forward pass (kFine) are enough.
TEST(AmxGolden, TheFirstGradientPointsWherePyTorchsDoesAndTenLossesFollow) {
  SKIP_WITHOUT_TILES();
  SKIP_WITHOUT_GOLDEN();
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  if (!load_golden_images(images, labels)) GTEST_SKIP() << "CIFAR-100 is not here";
  std::vector<Bf16> pixels(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t image = i / 3072, channel = i % 3072 / 1024, pixel = i % 1024;
    pixels[image * 3072 + pixel * 3 + channel] = narrow(images[i]);
  }
  const auto first = read_array<float>(golden_path("step0_grad.f32"));
  const ResNetSpec spec = make_spec("resnet32", "projection", 100, 3);
  base::ThreadPool pool(2);
  const auto narrow_engine = make_engine("amx", spec, 128, pool);
  const auto fine_engine = make_engine("amx-fine", spec, 128, pool);
  const auto loss = make_loss("cross_entropy", {});
  for (const auto& [engine, nesterov] : {std::pair(&narrow_engine, true), std::pair(&narrow_engine, false),
                                         std::pair(&fine_engine, true), std::pair(&fine_engine, false)}) {
    const bool fine = engine == &fine_engine;
    const auto golden = nlohmann::json::parse(
        base::read_text(golden_path(nesterov ? "steps_nesterov.json" : "steps_plain.json")));
    auto parameters = read_array<float>(golden_path("init_seed42.f32"));
    auto buffers = initial_buffers(spec);
    std::vector<float> gradient(parameters.size()), momentum(parameters.size());
    SgdConfig sgd;
    sgd.nesterov = nesterov;
    for (std::size_t i = 0; i < 10; ++i) {
      const std::size_t at = i * 128 * 3072;
      const void* pixels_at = fine ? static_cast<const void*>(images.data() + at) : pixels.data() + at;
      const Batch batch{pixels_at, std::span(labels).subspan(i * 128, 128), 128};
      const StepResult step = (*engine)->gradient(parameters, buffers, batch, *loss, gradient);
      EXPECT_NEAR(step.loss / golden[i]["loss"].get<double>(), 1, 0.02)
          << (*engine)->name() << (nesterov ? ", Nesterov" : ", plain") << " step " << i;
      if (i == 0) {
        EXPECT_GT(cosine(gradient, first), fine ? 0.9999 : 0.99);
      }
      sgd_step(sgd, gradient, momentum, parameters);
    }
  }
}

}  // namespace
}  // namespace longtail::nn::amx
