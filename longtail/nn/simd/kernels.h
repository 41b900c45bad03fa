// The kernels of the portable engine, one table for every instruction set that was compiled in. Every kernel
// gives the same bits in every table (vector-inl.h says why).
//
// Arrays are fp32, channels last: [image][row][column][channel], channels in multiples of 16, without gaps
// between images. Winograd's F(4x4, 3x3) makes 4x4 outputs (a tile) from 6x6 inputs with 36 products per pair
// of channels instead of 144 (docs/engine.md draws the layouts).
#pragma once

#include <cstddef>

namespace longtail::nn::simd {

// What a convolution reads, pixel by pixel.
struct Activation {
  enum Form {
    kCopy,      // z
    kNorm,      // relu(z * scale + shift)
    kNormSkip,  // relu(z * scale + shift + other)
    kNormNorm,  // relu(z * scale + shift + (other * other_scale + other_shift))
    kGradient,  // z * scale + (other * other_scale + shift): a batch norm backward, z being the gradient
  };
  Form form = kCopy;
  const float* z = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* other = nullptr;
  const float* other_scale = nullptr;
  const float* other_shift = nullptr;
  float* keep = nullptr;  // if not null, the values are stored here too
};

// Where a convolution's output goes. Training: raw to z, with sums of values and squares. Prediction (sum is
// null): relu(output + bias [+ skip]), the ReLU if asked for.
struct Output {
  float* z = nullptr;
  double* sum = nullptr;
  double* square = nullptr;
  const float* bias = nullptr;
  const float* skip = nullptr;
  bool relu = true;
};

// Where the gradient of a convolution's input goes: with `skip` added, through the ReLU, to d, with its sums
// for the batch norms below. The ReLU was open where gate > 0, or, without gate, where z * scale + shift > 0.
struct InputGradient {
  const float* skip = nullptr;
  const float* gate = nullptr;
  const float* z = nullptr;  // of the unit whose batch norm receives d
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* other = nullptr;  // a second such unit: the projection
  const float* other_mean = nullptr;
  float* d = nullptr;
  double* sum = nullptr;
  double* product = nullptr;        // d * (z - mean)
  double* other_product = nullptr;  // d * (other - other_mean)
};

// A convolution of 3x3, stride 1, as many channels out as in.
struct SameConv {
  int side = 0;
  int channels = 0;
};
std::size_t forward_scratch(const SameConv& conv);  // floats
std::size_t backward_scratch(const SameConv& conv);

// Any other convolution, computed directly. Its input lies on a grid with a border of one zero pixel.
struct DirectConv {
  int side = 0;  // of the input
  int in = 0;    // channels; any number
  int out = 0;
  int kernel = 3;  // or 1
  int stride = 1;  // or 2

  int out_side() const { return side / stride; }
  int taps() const { return kernel * kernel; }
};
inline std::size_t grid_floats(int side, int channels) {
  return static_cast<std::size_t>(side + 2) * static_cast<std::size_t>(side + 2) *
         static_cast<std::size_t>(channels);
}

// The gradient of a stride-2 convolution's input, and that of a 1x1 projection next to it.
struct DirectGradient {
  const float* grid = nullptr;  // of the output's gradient, with a border
  const float* weights = nullptr;
  const float* side_grid = nullptr;  // the same of the projection; or null
  const float* side_weights = nullptr;
};

struct Kernels {
  const char* name;  // of the instruction set: avx512, avx2, neon, scalar

  // Weights [tap][from][to], a layer's [9][channels][channels], to [36][to / 16][from][16].
  void (*transform_weights)(int channels, const float* weights, float* transformed);
  // The gradient of transformed weights [36][in][out] to that of weights [9][in][out].
  void (*weight_gradient)(int channels, const float* transformed, float* weights);
  void (*forward)(const SameConv& conv, int images, const Activation& input, const float* weights,
                  const Output& output, float* scratch);
  // `weights` are transformed with from and to exchanged; weight_sums, [36][in][out], are added to.
  void (*backward)(const SameConv& conv, int images, const Activation& output_gradient,
                   const Activation& input, const float* weights, float* weight_sums,
                   const InputGradient& gradient, float* scratch);

  // One image to a grid.
  void (*fill_grid)(int side, int channels, const Activation& from, float* grid);
  // Weights [out / 16][tap][in][16]. One image.
  void (*direct_forward)(const DirectConv& conv, const float* grid, const float* weights,
                         const Output& output);
  // Weights [in / 16][tap][out][16]. One image.
  void (*direct_backward)(const DirectConv& conv, const DirectGradient& from, const InputGradient& gradient);
  // Adds to [tap][in][out], from the grids of input and output gradient of one image.
  void (*direct_weights)(const DirectConv& conv, const float* grid, const float* gradient_grid,
                         float* weight_sums);

  // The mean over the pixels of one image; and its gradient, the same for all pixels.
  void (*mean_pixels)(int side, int channels, const Activation& from, float* mean);
  void (*spread_gradient)(int side, int channels, const float* gradient, const InputGradient& to);
};

}  // namespace longtail::nn::simd
