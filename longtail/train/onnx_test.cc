#include "longtail/train/onnx.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "longtail/base/file.h"
#include "longtail/base/philox.h"
#include "longtail/base/test_paths.h"
#include "longtail/base/threads.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/init.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;

constexpr int kNoRuntime = 77;

// Numbers around 0, a function of their place.
float noise(std::uint32_t stream, std::uint64_t i) {
  const auto word = base::Stream{.seed = 5, .purpose = base::Purpose::kTest, .epoch = stream}.block(i)[0];
  return static_cast<float>(word) * 0x1.0p-31F - 1;
}

// A network whose statistics are not those of the first moment: means off 0, variances off 1.
NetworkState worn_network(const nn::ResNetSpec& spec) {
  NetworkState network{nn::initial_parameters(spec, 7), nn::initial_buffers(spec)};
  for (std::size_t i = 0; i < network.buffers.size(); ++i) network.buffers[i] += 0.3F * noise(1, i);
  for (std::size_t i = 0; i < network.parameters.size(); ++i) network.parameters[i] += 0.02F * noise(2, i);
  return network;
}

class Onnx : public testing::TestWithParam<nn::ResNetSpec> {};

TEST_P(Onnx, ARuntimeComputesTheLogitsOfTheReference) {
  if (!has_onnx()) GTEST_SKIP() << "built without libonnx (libonnx-dev)";
  const nn::ResNetSpec spec = GetParam();
  const NetworkState network = worn_network(spec);
  constexpr int kImages = 3;
  std::vector<float> images(static_cast<std::size_t>(kImages * spec.channels * spec.side * spec.side));
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = noise(3, i);

  base::ThreadPool pool(1);
  const auto engine = nn::make_engine("reference", spec, kImages, pool);
  ASSERT_EQ(engine->input_layout(), data::PixelLayout::kNchwF32);
  std::vector<float> expected(static_cast<std::size_t>(kImages * spec.classes));
  const std::vector<std::int32_t> labels(kImages);
  engine->predict(network.parameters, network.buffers, nn::Batch{images.data(), labels, kImages}, expected);

  const fs::path folder = fs::temp_directory_path() / ("longtail_onnx_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  base::write_atomically(folder / "model.onnx", onnx_model(spec, network, {{"seed", "7"}}));
  base::write_atomically(folder / "in", std::as_bytes(std::span(images)));
  const std::string command = fmt::format(
      "node '{}/tests/onnx_run.cjs' '{}/model.onnx' '{}/in' '{}/out' {} {} {}", base::source_dir(),
      folder.string(), folder.string(), folder.string(), kImages, spec.channels, spec.side);
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::vector<float> logits;
  if (code == 0) logits = base::read_array<float>(folder / "out");
  fs::remove_all(folder);
  if (code == kNoRuntime || code == 127)
    GTEST_SKIP() << "no node with onnxruntime-node (scripts/setup --onnx)";
  ASSERT_EQ(code, 0);
  ASSERT_EQ(logits.size(), expected.size());
  float largest = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    ASSERT_LE(std::abs(logits[i] - expected[i]), 1e-4F)
        << "logit " << i << ": " << logits[i] << ", ours " << expected[i];
  }
  EXPECT_GT(largest, 0.01F);  // a network that says nothing would agree with everything
}

INSTANTIATE_TEST_SUITE_P(Networks, Onnx,
                         testing::Values(nn::make_spec("resnet20", "projection", 10, 3),
                                         nn::make_spec("resnet32", "pad", 100, 3),
                                         nn::make_spec("resnet20", "pad", 7, 1, 2),
                                         nn::make_spec("resnet20", "projection", 5, 3, 1, 48),
                                         nn::make_spec("resnet20", "projection", 6, 3, 2, 64)),
                         [](const auto& test) {
                           const nn::ResNetSpec& spec = test.param;
                           return fmt::format("ResNet{}{}Width{}Side{}", spec.depth,
                                              spec.shortcut == nn::Shortcut::kPad ? "Pad" : "Projection",
                                              spec.width, spec.side);
                         });

}  // namespace
}  // namespace longtail::train
