// What the portable engine keeps: activations of a batch, packed weights, a worker's scratch memory.
#pragma once

#include <vector>

#include "longtail/nn/buffer.h"
#include "longtail/nn/resnet.h"
#include "longtail/nn/simd/kernels.h"

namespace longtail::nn::simd {

// Whether a unit goes through Winograd's transforms.
inline bool is_same(const ConvUnit& unit) {
  return unit.kernel == 3 && unit.stride == 1 && unit.in == unit.out;
}
inline SameConv same_conv(const ConvUnit& unit) { return {unit.side, unit.in}; }
inline DirectConv direct_conv(const ConvUnit& unit) {
  return {unit.side, unit.in, unit.out, unit.kernel, unit.stride};
}
inline std::size_t in_floats(const ConvUnit& unit) {
  return static_cast<std::size_t>(unit.side) * static_cast<std::size_t>(unit.side) *
         static_cast<std::size_t>(unit.in);
}
inline std::size_t out_floats(const ConvUnit& unit) {
  return static_cast<std::size_t>(unit.out_side()) * static_cast<std::size_t>(unit.out_side()) *
         static_cast<std::size_t>(unit.out);
}
inline std::size_t packed_floats(const ConvUnit& unit) {
  return static_cast<std::size_t>(unit.weight_size()) * (is_same(unit) ? 4 : 1);
}

// The scratch memory of one worker.
struct Scratch {
  Scratch(const NetworkPlan& plan, int slice_images, int predict_images);

  Buffer<float> kernel;         // the kernels' own
  Buffer<float> weight_sums;    // in Winograd's form
  Buffer<float> weights;        // of one layer, on the way to the packed form
  Buffer<float> grid;           // a direct convolution's input
  Buffer<float> gradient_grid;  // the gradient of its output
  Buffer<float> side_grid;      // the same of the projection next to it
  Buffer<float> skip;           // a padded shortcut, of a slice; or its gradient, of an image
  Buffer<float> x;              // prediction: a block's input, of a few images
  Buffer<float> inner;          // between its convolutions
  Buffer<float> side;           // the shortcut next to them
};

// The arrays of a batch that live from the forward pass to the backward pass.
class Activations {
 public:
  Activations(const NetworkPlan& plan, int batch);

  float* z(const ConvUnit& unit, int image) {
    return values_.data() + z_[static_cast<std::size_t>(unit.index)] +
           static_cast<std::size_t>(image) * out_floats(unit);
  }
  // The input of block b; after the last block, its output.
  float* x(std::size_t b, int image) {
    return values_.data() + x_[b] + static_cast<std::size_t>(image) * x_size_[b];
  }
  // The gradient there, through the ReLU. Inside a stage it overwrites the output of the block's second
  // convolution, which is no longer needed; before that, the gradient inside the block is stored there.
  float* x_gradient(std::size_t b, int image) {
    return values_.data() + gradient_[b] + static_cast<std::size_t>(image) * x_size_[b];
  }

 private:
  Buffer<float> values_;
  std::vector<std::size_t> z_;
  std::vector<std::size_t> x_;
  std::vector<std::size_t> x_size_;
  std::vector<std::size_t> gradient_;
};

}  // namespace longtail::nn::simd
