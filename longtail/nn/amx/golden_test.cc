// The tile engines against PyTorch in fp32 from the same weights on the same made-up pictures (golden_pictures.h).
#include <gtest/gtest.h>

#include "longtail/nn/amx/engine_testing.h"
#include "longtail/nn/golden_pictures.h"
#include "longtail/nn/sgd.h"

namespace longtail::nn::amx {
namespace {

// On these pictures PyTorch itself is 0.16 away from its first gradient with its weights rounded to bf16, and 0.22 by its
// own bf16 autocast: values near the edge of a ReLU fall on the other side. Twice the bits in the forward pass (amx-fine) are
// enough. docs/performance.md has the figures on CIFAR-100.
TEST(AmxGolden, TheFirstGradientIsNearPyTorchsAndTenLossesFollow) {
  SKIP_WITHOUT_TILES();
  const std::vector<float> images = golden_pictures();
  const std::vector<std::int32_t> labels = golden_labels();
  std::vector<Bf16> pixels(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t image = i / 3072, channel = i % 3072 / 1024, pixel = i % 1024;
    pixels[image * 3072 + pixel * 3 + channel] = narrow(images[i]);
  }
  const auto golden = golden_values();
  const ResNetSpec spec = make_spec("resnet32", "projection", kGoldenClasses, 3);
  base::ThreadPool pool(2);
  const auto loss = make_loss("cross_entropy", {});
  for (const bool fine : {false, true}) {
    const auto engine = make_engine(fine ? "amx-fine" : "amx", spec, kGoldenBatch, pool);
    for (const bool nesterov : {true, false}) {
      const auto& expected = golden[nesterov ? "nesterov" : "plain"];
      auto parameters = initial_parameters(spec, 42);
      auto buffers = initial_buffers(spec);
      std::vector<float> gradient(parameters.size()), momentum(parameters.size());
      const SgdConfig sgd{.nesterov = nesterov};
      for (std::size_t i = 0; i < kGoldenSteps; ++i) {
        const std::size_t at = i * kGoldenBatch * 3072;
        const void* pixels_at = fine ? static_cast<const void*>(images.data() + at) : pixels.data() + at;
        const Batch batch{pixels_at, std::span(labels).subspan(i * kGoldenBatch, kGoldenBatch), kGoldenBatch};
        const StepResult step = engine->gradient(parameters, buffers, batch, *loss, gradient);
        EXPECT_NEAR(step.loss / expected[i]["loss"].get<double>(), 1, 0.02)
            << engine->name() << (nesterov ? ", Nesterov" : ", plain") << " step " << i;
        if (i == 0) {
          EXPECT_LT(sketch(spec, gradient, golden["products"]).distance, fine ? 0.02 : 0.25)
              << engine->name();
        }
        sgd_step(sgd, gradient, momentum, parameters);
      }
    }
  }
}

}  // namespace
}  // namespace longtail::nn::amx
