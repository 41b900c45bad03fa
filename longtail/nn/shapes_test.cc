// Networks of other widths and images of other sides against PyTorch in fp32 (testdata/make_shapes.py): the
// reference, and the engine that `auto` takes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/nn/gradient_sketch.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

// `gradient_limit`: rounding carries activations near 0 over the edge of a ReLU. With the one image of a case
// each of them moves the gradient by about a thousandth, so that an engine that rounds otherwise than PyTorch
// cannot be nearer.
void expect_case(const nlohmann::json& c, std::string_view engine_name, double gradient_limit) {
  const ResNetSpec spec =
      make_spec("resnet20", c["shortcut"].get<std::string>(), 7, c["channels"], c["width"], c["side"]);
  SCOPED_TRACE(testing::Message() << "side " << spec.side << ", width " << spec.width);
  auto state = c["start"].get<std::uint32_t>();
  const std::vector<std::int32_t> labels = {static_cast<std::int32_t>(state % 7)};
  std::vector<float> images(data::ImageShape{spec.channels, spec.side}.values());
  for (float& pixel : images) pixel = static_cast<float>(next(state) / 1073741824.0 - 2);
  base::ThreadPool pool(1);
  const auto engine = make_engine(engine_name, spec, 1, pool);
  ASSERT_EQ(engine->input_layout(), data::PixelLayout::kNchwF32);
  const std::vector<float> parameters = initial_parameters(spec, 42);
  std::vector<float> buffers = initial_buffers(spec), gradient(parameters.size()), logits(7);
  const Batch batch{images.data(), labels, 1};
  engine->predict(parameters, buffers, batch, logits);
  EXPECT_LT(relative_distance(logits, c["logits"].get<std::vector<double>>()), 1e-4);
  const StepResult step =
      engine->gradient(parameters, buffers, batch, *make_loss("cross_entropy", {}), gradient);
  EXPECT_NEAR(step.loss, c["loss"].get<double>(), 1e-5);
  const auto& views = parameter_layout(spec).parameters;
  ASSERT_EQ(views.size(), c["norms"].size());
  const GradientSketch ours = sketch(spec, gradient, c["products"]);
  for (std::size_t v = 0; v < views.size(); ++v) {
    EXPECT_NEAR(ours.norms[v], c["norms"][v].get<double>(), gradient_limit * c["norm"].get<double>())
        << views[v].name;
  }
  EXPECT_LT(ours.distance, gradient_limit);
  EXPECT_NEAR(ours.norm / c["norm"].get<double>(), 1, gradient_limit);
}

// Every case on a thread of its own, the largest first: an engine has nothing to share out of one image.
void expect_those_of_pytorch(std::string_view engine_name, double gradient_limit) {
  const auto cases =
      nlohmann::json::parse(base::read_text(base::source_dir() + "/longtail/nn/testdata/shapes.json"));
  ASSERT_EQ(cases.size(), 12u);
  base::ThreadPool pool(base::available_cpus());
  pool.run(12, [&](int piece, int) {
    expect_case(cases[static_cast<std::size_t>(11 - piece)], engine_name, gradient_limit);
  });
}

TEST(Shapes, TheReferencesGradientsOfEverySideAndWidthAreThoseOfPyTorch) {
  expect_those_of_pytorch("reference", 1e-4);
}

TEST(Shapes, TheGradientsOfSimdAreThoseOfPyTorchUpToActivationsAtTheEdgeOfAReLU) {
  expect_those_of_pytorch("simd", 2e-3);
}

}  // namespace
}  // namespace longtail::nn
