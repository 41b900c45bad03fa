// The only place that speaks to oneDNN: the convolutions of one shape over a few images on the calling
// thread, forward and backward, on channel-blocked tensors (nChw16c or nChw8c). Written for oneDNN 2.6;
// for 3.x only convolution.cc changes.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <memory>

namespace longtail::nn::onednn {

struct ConvShape {
  int in = 0;
  int out = 0;
  int kernel = 3;
  int stride = 1;
  int side = 32;  // of the input
  auto operator<=>(const ConvShape&) const = default;
};

// What happens to an output while it is still in registers.
enum class Epilogue {
  kNone,
  kBias,
  kBiasRelu,
  kBiasSumRelu,  // relu(convolution + bias + what the output held before)
};

// Channels of a block: 16 with AVX-512, otherwise 8.
int channel_block();

// Streams and scratch memory of each worker. Throws an Error if this oneDNN cannot be kept to one thread a
// call.
class Context {
 public:
  explicit Context(int workers);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  friend class Convolution;
  friend class Call;
  struct State;
  std::unique_ptr<State> state_;
};

// Weights are used in layouts of oneDNN's choice; pack_* makes them from PyTorch's (out, in, y, x) order and
// unpack_gradient goes back. Before the first use with a number of images, prepare() must have been called
// for it, outside of parallel loops; after that nothing allocates.
class Convolution {
 public:
  Convolution(Context& context, const ConvShape& shape, int images);
  ~Convolution();
  Convolution(Convolution&&) noexcept;

  const ConvShape& shape() const;
  void prepare_training(int images);
  void prepare_forward(int images, Epilogue epilogue);

  // Number of floats that a packed array needs.
  std::size_t forward_weights() const;
  std::size_t backward_weights() const;  // 0 for an input layer, which has no data gradient
  std::size_t gradient_weights() const;

  void pack_forward(int worker, const float* plain, float* packed);
  void pack_backward(int worker, const float* plain, float* packed);
  void unpack_gradient(int worker, const float* packed, float* plain);

  void forward(int worker, int images, const float* input, const float* packed, float* output);
  void forward(int worker, int images, Epilogue epilogue, const float* input, const float* packed,
               const float* bias, float* output);
  void input_gradient(int worker, int images, const float* output_gradient, const float* packed,
                      float* result);
  void weight_gradient(int worker, int images, const float* input, const float* output_gradient,
                       float* packed);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace longtail::nn::onednn
