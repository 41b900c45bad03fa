// The CIFAR ResNet family (He et al. 2016): 6n+2 layers in three stages of 16, 32 and 64 channels. This file knows
// only shapes: which parameters there are, under PyTorch's names and in PyTorch's order, in one flat array.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::nn {

enum class Shortcut {
  kProjection,  // 1x1 convolution and batch norm where the shape changes (the paper's)
  kPad,         // subsampling and zero channels, no parameters (LDAM-DRW and most older papers)
};

struct ResNetSpec {
  int depth = 32;  // 20, 32, 44, 56 or 110
  Shortcut shortcut = Shortcut::kProjection;
  int classes = 100;
  int channels = 3;  // of the input: 1 or 3

  int blocks_per_stage() const { return (depth - 2) / 6; }
  bool operator==(const ResNetSpec&) const = default;
};

// "resnet32" and "projection" to a spec; an Error lists what exists.
ResNetSpec make_spec(std::string_view model, std::string_view shortcut, int classes, int channels);

// A named part of a flat array.
struct View {
  std::string name;  // "layer1.0.conv1.weight"
  std::vector<int> shape;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

struct ParameterLayout {
  std::vector<View> parameters;  // weights, batch-norm scale and shift, linear weight and bias
  std::vector<View> buffers;     // running mean and running variance of each batch norm
  std::int64_t parameter_count = 0;
  std::int64_t buffer_count = 0;

  const View& parameter(std::string_view name) const;
  const View& buffer(std::string_view name) const;
};

ParameterLayout parameter_layout(const ResNetSpec& spec);

}  // namespace longtail::nn
