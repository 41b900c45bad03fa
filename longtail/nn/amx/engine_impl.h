// The class behind make_amx_engine. A step is a row of passes over the batch, one a convolution, with a
// barrier after each where its batch norm's statistics become known; inside a pass every image goes through
// all there is to do while it is in cache. The batch is cut into slices of fixed size, whose sums are added
// in order: no bit depends on the number of threads.
//
// With kFine every value on the way forward has two parts of bf16, 16 bits instead of 8, and a convolution
// multiplies three times; gradients stay in bf16, where rounding does no harm. Then the gradient is that of
// fp32 (docs/performance.md).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "longtail/nn/amx/amx_engine.h"
#include "longtail/nn/amx/state.h"
#include "longtail/nn/engine.h"

namespace longtail::nn::amx {

class AmxEngine final : public Engine {
 public:
  AmxEngine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool, AmxPrecision precision);

  std::string_view name() const override { return fine_ ? "amx-fine" : "amx"; }
  const ResNetSpec& spec() const override { return spec_; }
  data::PixelLayout input_layout() const override {
    return fine_ ? data::PixelLayout::kNchwF32 : data::PixelLayout::kNhwcBf16;
  }
  StepResult gradient(std::span<const float> parameters, std::span<float> buffers, const Batch& batch,
                      const Loss& loss, std::span<float> gradient) override;
  void predict(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
               std::span<float> logits) override;
  void image_gradients(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, const ImageSink& sink) override;
  void frozen_gradient(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       const Loss& loss, std::span<float> gradient) override;

 private:
  static constexpr int kSliceImages = 16;
  static constexpr int kRoundImages = 16;  // image_gradients takes so many at a time

  // Images [first, last) of the batch, the sums of one slice and the operands of the worker that has it.
  // Every other pass goes through the images backwards: it starts with those that the pass before it left in
  // cache.
  struct Slice {
    int first;
    int last;
    bool backwards;
    SliceSums& sums;
    float* weight_sums;
    Scratch& scratch;
    int count() const { return last - first; }
    int image(int i) const { return backwards ? last - 1 - i : first + i; }
  };
  using SliceBody = std::function<void(const Slice&)>;

  // What a step is about, from its start to its end.
  struct Step {
    std::span<const float> parameters;
    std::span<float> buffers;  // empty: frozen, batch norm by running statistics
    const Batch* batch = nullptr;
    const Loss* loss = nullptr;
    int slice_images = kSliceImages;
    double weight = 1;                             // of an image in the loss
    std::vector<std::span<float>> gradients = {};  // one for all slices, or one for each
    bool frozen() const { return buffers.empty(); }
    int slices() const { return (batch->size + slice_images - 1) / slice_images; }
  };

  void allocate_training();
  void run(const SliceBody& body);
  void begin(std::span<const float> parameters, std::span<const float> running);
  StepResult train_step();

  // forward.cc
  void forward();
  void stem_forward(const Slice& slice);
  void first_forward(std::size_t b, const Slice& slice);
  void second_forward(std::size_t b, const Slice& slice);
  // The same arrays of the image that this worker will most likely take next: arrays(image) lists them.
  template <class Arrays>
  Ahead ahead(const Slice& slice, int image, const Arrays& arrays) {
    const int next = slice.backwards ? image - 1 : image + 1;
    Ahead result;
    if (next < 0 || next >= step_.batch->size) return result;
    for (const Bf16* array : arrays(next)) result.array[result.count++] = array;
    return result;
  }
  Ahead lows(const Ahead& ahead) {
    Ahead result;
    if (!fine_) return result;
    result.count = ahead.count;
    for (int i = 0; i < ahead.count; ++i) result.array[i] = low(static_cast<const Bf16*>(ahead.array[i]));
    return result;
  }
  // A convolution of stride 1 forward, with its statistics.
  void convolve_same(const Layer& layer, ImageConv& conv, int image, const Slice& slice);
  // Any other, over a grid that is there.
  void convolve(const Layer& layer, const Bf16* grid, int image, int which, const Slice& slice);
  // The input of a block (or, behind the last, the features) from what came before it; it is kept in x(b).
  GridSource block_input(std::size_t b, int image, Scratch& scratch);
  void head(const Slice& slice);
  void head_image(int image, const Slice& slice);
  void finish_forward(const Layer& layer, int which);
  StepResult result() const;

  // backward.cc
  void backward();
  void second_backward(std::size_t b, const Slice& slice);
  void first_backward(std::size_t b, const Slice& slice);
  void first_image(std::size_t b, int image, int place, const Slice& slice);
  void stem_backward(const Slice& slice);
  // The gradient of a layer's output from that behind its batch norm.
  GridSource output_gradient(const Layer& layer, const Bf16* d, int image, Bf16* grid);
  void transpose(const Layer& layer, const Bf16* grid, Bf16* transposed) const;
  void sum_weights(const Layer& layer, bool projection, int images, bool first, const Slice& slice);
  void up_gradient(const Block& block, const GradientEpilogue& epilogue, Scratch& scratch);
  GradientEpilogue block_input_epilogue(std::size_t b, int image, const Slice& slice);
  void finish_backward(const Layer& layer, int which);
  void finish_block_input(std::size_t b);
  void collect_weights(const Layer& layer, std::size_t offset);
  void linear_gradient();
  // The gradient at the input of block b (or at the features), through the ReLU there. Inside a stage it
  // takes the place of the second convolution's output, which nobody needs any more; so does, before it, the
  // gradient inside the block.
  Bf16* block_gradient(std::size_t b, int image);
  Bf16* inner_gradient(const Block& block, int image) { return z(block.second, image); }

  // predict.cc
  void fold(std::span<const float> parameters, std::span<const float> buffers);
  void predict_image(const Batch& batch, int image, std::span<const float> parameters, float* logits,
                     Scratch& scratch);
  void predict_block(const Block& block, Bf16* x, Scratch& scratch);
  void predict_same(const Layer& layer, const Bf16* in, const Bf16* skip, Bf16* out, Scratch& scratch);
  void predict_other(const Layer& layer, const Bf16* grid, bool relu, Bf16* out, Scratch& scratch);

  // An image of the batch, and what the first convolution makes of it: its neighbourhoods on a grid.
  const void* input(const Batch& batch, int image) const;
  void gather_input(const Batch& batch, int image, Scratch& scratch);
  // Arrays of one image.
  Bf16* z(const Layer& layer, int image);
  Bf16* x(std::size_t block, int image);
  // The low bits of an activation; null if there are none.
  Low* low(const Bf16* activation) {
    return fine_ ? lows_.data() + (activation - activations_.data()) : nullptr;
  }
  Bf16* grid_low(Kind kind, Scratch& scratch) const {
    return fine_ ? scratch.grid(kind) + network_.grid_elements(kind) : nullptr;
  }
  const Bf16* low_weights(const Layer& layer) const {
    return fine_ ? forward_low_weights_.data() + layer.forward : nullptr;
  }
  Norm& norm(const Layer& layer) { return norms_[static_cast<std::size_t>(layer.index)]; }
  std::span<const SliceSums> step_sums() const {
    return {slice_sums_.data(), static_cast<std::size_t>(step_.slices())};
  }

  ResNetSpec spec_;
  bool fine_;
  int max_batch_;
  base::ThreadPool& pool_;
  Network network_;
  std::vector<Scratch> scratch_;
  std::vector<Norm> norms_;
  Buffer<Bf16> forward_weights_;
  Buffer<Bf16> forward_low_weights_;  // only if fine
  Buffer<Bf16> backward_weights_;

  // Training only, allocated at the first step.
  Buffer<Bf16> activations_;
  Buffer<Low> lows_;                   // of the activations; only if fine
  std::vector<std::size_t> z_offset_;  // of a layer
  std::vector<std::size_t> x_offset_;  // of a block's input; one more for the features
  Buffer<Bf16> stage_gradient_[3];     // at the inputs of the second and third stage, and at the features
  Buffer<float> weight_sums_;          // [slice][weights, projection]
  std::vector<SliceSums> slice_sums_;
  Buffer<float> summed_;
  Buffer<float> features_;  // [image][64]
  Buffer<float> logits_;    // [image][classes]
  Buffer<float> logit_gradient_;
  std::vector<double> losses_;
  std::vector<int> correct_;

  // Prediction only.
  std::vector<float> folded_;  // parameters with batch norm multiplied in

  Step step_;
  bool backwards_ = false;  // the next pass
};

// The zero-padded, subsampled shortcut and its gradient (Skip::kPad), for one image of the block's first
// layer.
template <class Value>
void pad_skip(const Geometry& geometry, const Value* x, Value zero, Value* skip);
void pad_skip_gradient(const Geometry& geometry, const Bf16* d, Bf16* gradient);

}  // namespace longtail::nn::amx
