// The CIFAR ResNet family (He et al. 2016): 6n+2 layers in three stages of 16, 32 and 64 channels times a
// width, for square images of any side that is a multiple of 8. This file knows only shapes: which parameters
// there are, under PyTorch's names and in PyTorch's order, in one flat array, and which convolution reads
// what.
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

// The classifier: weights and a bias, or the cosine between the features and the weights of each class
// (logits from -1 to 1, no bias), which the loss multiplies.
enum class Head { kLinear, kCosine };

struct ResNetSpec {
  int depth = 32;  // 20, 32, 44, 56 or 110
  Shortcut shortcut = Shortcut::kProjection;
  int classes = 100;
  int channels = 3;  // of the input: 1 or 3
  int width = 1;     // 1, 2 or 4: the stages have 16, 32 and 64 channels times this
  int side = 32;     // of the square input: a multiple of 8 from 16 to 128
  Head head = Head::kLinear;

  int blocks_per_stage() const { return (depth - 2) / 6; }
  bool operator==(const ResNetSpec&) const = default;
};

// "resnet32", "projection" and so on to a spec; a UsageError lists what exists.
ResNetSpec make_spec(std::string_view model, std::string_view shortcut, int classes, int channels,
                     int width = 1, int side = 32, std::string_view head = "linear");

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

// A convolution without bias (padding kernel / 2) and the batch norm after it. The offsets point into the
// flat arrays.
struct ConvUnit {
  int index =
      0;       // counts units in the order of the parameters: stem; of each block first, second, projection
  int in = 0;  // channels
  int out = 0;
  int kernel = 3;
  int stride = 1;
  int side = 32;              // of the square input
  std::int64_t weight = 0;    // out x in x kernel x kernel
  std::int64_t gamma = 0;     // batch-norm scale
  std::int64_t beta = 0;      // batch-norm shift
  std::int64_t mean = 0;      // running mean, in the buffers
  std::int64_t variance = 0;  // running variance, in the buffers

  int out_side() const { return side / stride; }
  std::int64_t weight_size() const { return std::int64_t{out} * in * kernel * kernel; }
};

enum class Skip { kIdentity, kProjection, kPad };

// relu(bn2(conv2(relu(bn1(conv1(x))))) + skip(x)).
struct BlockPlan {
  ConvUnit first;
  ConvUnit second;
  Skip skip = Skip::kIdentity;
  ConvUnit projection;  // only with Skip::kProjection
};

// The network as the walk goes through it (resnet_walk.h): stem, blocks, mean over the pixels, classifier.
struct NetworkPlan {
  int side = 32;       // of the input
  int final_side = 8;  // of the last block's output: side / 4
  int features = 64;   // channels of the last block: 64 times the width
  int classes = 0;
  int units = 0;  // convolutions with their batch norms
  ConvUnit stem;
  std::vector<BlockPlan> blocks;
  std::int64_t linear_weight = 0;  // classes x features
  std::int64_t linear_bias = 0;    // classes; -1: the head has none
  std::int64_t parameter_count = 0;

  int channels() const { return stem.in; }
  // visit(unit) for every unit in the order of their indices.
  template <class Visit>
  void each_unit(const Visit& visit) const {
    visit(stem);
    for (const BlockPlan& block : blocks) {
      visit(block.first);
      visit(block.second);
      if (block.skip == Skip::kProjection) visit(block.projection);
    }
  }
};

NetworkPlan network_plan(const ResNetSpec& spec);

}  // namespace longtail::nn
