#include "longtail/train/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "longtail/nn/init.h"

namespace longtail::train {
namespace {

using nlohmann::json;

TEST(Safetensors, HoldsEveryArrayUnderPyTorchsNameWithoutGaps) {
  const nn::ResNetSpec spec = nn::make_spec("resnet20", "projection", 10, 3);
  const nn::ParameterLayout layout = nn::parameter_layout(spec);
  const NetworkState network{nn::initial_parameters(spec, 42), nn::initial_buffers(spec)};
  const std::string file = safetensors(spec, network, 84, {{"seed", "42"}});
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), 8);
  EXPECT_EQ(size % 8, 0u);
  const json header = json::parse(file.substr(8, size));
  const std::string data = file.substr(8 + size);
  EXPECT_EQ(header["__metadata__"]["seed"], "42");

  std::size_t covered = 0;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const auto from = tensor["data_offsets"][0].get<std::size_t>();
    const auto to = tensor["data_offsets"][1].get<std::size_t>();
    covered += to - from;
    if (tensor["dtype"] == "I64") {
      std::int64_t steps = 0;
      ASSERT_EQ(to - from, 8u);
      std::memcpy(&steps, data.data() + from, 8);
      EXPECT_EQ(steps, 84);
    }
  }
  EXPECT_EQ(covered, data.size());
  EXPECT_TRUE(header.contains("layer2.0.shortcut.1.num_batches_tracked"));

  const auto compare = [&](const std::vector<nn::View>& views, const std::vector<float>& values) {
    for (const nn::View& view : views) {
      ASSERT_TRUE(header.contains(view.name)) << view.name;
      EXPECT_EQ(header[view.name]["shape"], json(view.shape));
      const auto from = header[view.name]["data_offsets"][0].get<std::size_t>();
      EXPECT_EQ(from % 4, 0u);
      EXPECT_EQ(std::memcmp(data.data() + from, values.data() + view.offset,
                            static_cast<std::size_t>(view.size) * 4),
                0)
          << view.name;
    }
  };
  compare(layout.parameters, network.parameters);
  compare(layout.buffers, network.buffers);
}

}  // namespace
}  // namespace longtail::train
