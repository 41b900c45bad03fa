// The backend on AMX tiles: bf16 activations and tile operands, fp32 sums. Within a pass, all work on an
// image is done while it is in cache.
//
// With kFine every value of the forward pass has two parts of bf16, 16 bits instead of 8, and a convolution
// multiplies three times; gradients stay in bf16, where rounding does no harm. The gradient is then that of
// fp32 (docs/performance.md).
#pragma once

#include <span>
#include <vector>

#include "longtail/nn/amx/amx_engine.h"
#include "longtail/nn/amx/scratch.h"
#include "longtail/nn/backend.h"

namespace longtail::nn::amx {

class TileBackend final : public Backend<float> {
 public:
  TileBackend(const ResNetSpec& spec, int max_batch, int workers, AmxPrecision precision);

  std::string_view name() const override { return fine_ ? "amx-fine" : "amx"; }
  data::PixelLayout input_layout() const override {
    return fine_ ? data::PixelLayout::kNchwF32 : data::PixelLayout::kNhwcBf16;
  }
  int slice_images() const override { return 16; }
  std::size_t weight_sums(const ConvUnit& unit) const override;
  void on_worker(const std::function<void()>& body) override;
  void allocate_training() override;
  void begin(const StepInput<float>& step) override { step_ = step; }
  int pack_pieces(Packing packing) const override;
  void pack(Packing packing, int piece, int worker, std::span<const float> parameters) override;

  // forward.cc
  void stem_forward(const Slice<float>& slice) override;
  void first_forward(std::size_t b, const Slice<float>& slice) override;
  void second_forward(std::size_t b, const Slice<float>& slice) override;
  void features_forward(const Slice<float>& slice, float* features) override;

  // backward.cc
  void features_backward(const Slice<float>& slice, const float* gradients) override;
  void second_backward(std::size_t b, const Slice<float>& slice) override;
  void first_backward(std::size_t b, const Slice<float>& slice) override;
  void stem_backward(const Slice<float>& slice) override;
  void unpack_weights(const ConvUnit& unit, const float* sums, int first, int last, float* weights) override;

  // predict.cc: one image at a time, never leaving the worker's cache
  int predict_images() const override { return 1; }
  void predict_stem(const Slice<float>& slice) override;
  void predict_block(std::size_t b, const Slice<float>& slice) override;
  void predict_features(const Slice<float>& slice, float* features) override;

 private:
  // forward.cc
  // What arrays(image) lists, for the image that this worker will most likely take next.
  template <class Arrays>
  Prefetch prefetch(const Slice<float>& slice, int image, const Arrays& arrays) {
    const int next = slice.backwards ? image - 1 : image + 1;
    Prefetch result;
    if (next < 0 || next >= step_.batch) return result;
    for (const Bf16* array : arrays(next)) result.array[result.count++] = array;
    return result;
  }
  Prefetch lows(const Prefetch& arrays) {
    Prefetch result;
    if (!fine_) return result;
    result.count = arrays.count;
    for (int i = 0; i < arrays.count; ++i) result.array[i] = low(static_cast<const Bf16*>(arrays.array[i]));
    return result;
  }
  // A convolution of stride 1 forward, with its statistics.
  void convolve_same(const Layer& layer, ImageConv& conv, int image, const Slice<float>& slice);
  // Any other convolution, over a grid that is already filled.
  void convolve(const Layer& layer, const Bf16* grid, int image, int which, const Slice<float>& slice);
  // Computes the input of block b (the features after the last block) from what precedes it; kept in x(b).
  GridSource block_input(std::size_t b, int image, Scratch& scratch);

  // backward.cc
  void first_image(std::size_t b, int image, int place, const Slice<float>& slice);
  // The gradient at the output of a layer's convolution, from that at the output of its batch norm.
  GridSource output_gradient(const Layer& layer, const Bf16* d, int image, Bf16* grid);
  void transpose(const Layer& layer, const Bf16* grid, Bf16* transposed) const;
  void sum_weights(const Layer& layer, bool projection, int images, bool first, const Slice<float>& slice);
  void up_gradient(const TileBlock& block, const GradientEpilogue& epilogue, Scratch& scratch);
  GradientEpilogue block_input_epilogue(std::size_t b, int image, const Slice<float>& slice);
  // The gradient at the input of block b (or at the features), through the ReLU there. Inside a stage it
  // overwrites the output of the block's second convolution, which is no longer needed; before that, the
  // gradient inside the block is stored there.
  Bf16* block_gradient(std::size_t b, int image);
  Bf16* inner_gradient(const TileBlock& block, int image) { return z(block.second, image); }

  // predict.cc
  void predict_same(const Layer& layer, const Bf16* in, const Bf16* skip, Bf16* out, Scratch& scratch);
  void predict_other(const Layer& layer, const Bf16* grid, bool relu, Bf16* out, Scratch& scratch);

  // The input of the first convolution for an image of the batch: its neighbourhoods on a grid.
  void gather_input(int image, Scratch& scratch);
  // Arrays of one image.
  Bf16* z(const Layer& layer, int image);
  Bf16* x(std::size_t block, int image);
  // The low bits of an activation; null if there are none.
  LowBits* low(const Bf16* activation) {
    return fine_ ? lows_.data() + (activation - activations_.data()) : nullptr;
  }
  Bf16* grid_low(ConvKind kind, Scratch& scratch) const {
    return fine_ ? scratch.grid(kind) + network_.grid_elements(kind) : nullptr;
  }
  const Bf16* low_weights(const Layer& layer) const {
    return fine_ ? forward_low_weights_.data() + layer.forward : nullptr;
  }
  const Norm<float>& norm(const Layer& layer) const {
    return step_.norms[static_cast<std::size_t>(layer.unit.index)];
  }
  const Layer& layer_of(const ConvUnit& unit) const {
    return *network_.layers[static_cast<std::size_t>(unit.index)];
  }
  Scratch& scratch(const Slice<float>& slice) { return scratch_[static_cast<std::size_t>(slice.worker)]; }

  int channels_;
  bool fine_;
  int max_batch_;
  TileNetwork network_;
  std::vector<Scratch> scratch_;
  Buffer<Bf16> forward_weights_;
  Buffer<Bf16> forward_low_weights_;  // only if fine
  Buffer<Bf16> backward_weights_;

  // Training only, allocated at the first step.
  Buffer<Bf16> activations_;
  Buffer<LowBits> lows_;               // of the activations; only if fine
  std::vector<std::size_t> z_offset_;  // of a layer
  std::vector<std::size_t> x_offset_;  // of a block's input; one more for the features
  Buffer<Bf16> stage_gradient_[3];     // at the inputs of the second and third stage, and at the features

  StepInput<float> step_;
};

// The zero-padded, subsampled shortcut and its gradient (Skip::kPad), for one image of the block's first
// layer.
template <class Value>
void pad_skip(const Geometry& geometry, const Value* x, Value zero, Value* skip);
void pad_skip_gradient(const Geometry& geometry, const Bf16* d, Bf16* gradient);

}  // namespace longtail::nn::amx
