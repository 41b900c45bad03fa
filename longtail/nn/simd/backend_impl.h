// The class behind make_simd_backend.
#pragma once

#include <memory>
#include <vector>

#include "longtail/nn/backend.h"
#include "longtail/nn/simd/kernels.h"
#include "longtail/nn/simd/memory.h"

namespace longtail::nn::simd {

class SimdBackend final : public Backend<float> {
 public:
  SimdBackend(const ResNetSpec& spec, int max_batch, int workers, const Kernels& kernels);

  std::string_view name() const override { return "simd"; }
  data::PixelLayout input_layout() const override { return data::PixelLayout::kNchwF32; }
  int slice_images() const override { return kSliceImages; }
  std::size_t weight_sums(const ConvUnit& unit) const override {
    return static_cast<std::size_t>(unit.weight_size());
  }
  void allocate_training() override;
  void begin(const StepInput<float>& step) override { step_ = step; }
  int pack_pieces(Packing packing) const override;
  void pack(Packing packing, int piece, int worker, std::span<const float> parameters) override;

  void stem_forward(const Slice<float>& slice) override;
  void first_forward(std::size_t b, const Slice<float>& slice) override;
  void second_forward(std::size_t b, const Slice<float>& slice) override;
  void features_forward(const Slice<float>& slice, float* features) override;
  void features_backward(const Slice<float>& slice, const float* gradients) override;
  void second_backward(std::size_t b, const Slice<float>& slice) override;
  void first_backward(std::size_t b, const Slice<float>& slice) override;
  void stem_backward(const Slice<float>& slice) override;
  void unpack_weights(const ConvUnit& unit, const float* sums, int first, int last, float* weights) override;

  int predict_images() const override { return kPredictImages; }
  void predict_stem(const Slice<float>& slice) override;
  void predict_block(std::size_t b, const Slice<float>& slice) override;
  void predict_features(const Slice<float>& slice, float* features) override;

 private:
  static constexpr int kSliceImages = 16;
  static constexpr int kPredictImages = 4;

  const Norm<float>& norm(const ConvUnit& unit) const {
    return step_.norms[static_cast<std::size_t>(unit.index)];
  }
  Scratch& scratch(const Slice<float>& slice) { return scratch_[static_cast<std::size_t>(slice.worker)]; }
  float* forward_weights(const ConvUnit& unit) {
    return forward_weights_.data() + weight_offset_[static_cast<std::size_t>(unit.index)];
  }
  float* backward_weights(const ConvUnit& unit) {
    return backward_weights_.data() + weight_offset_[static_cast<std::size_t>(unit.index)];
  }
  // Units of the batch norms added at the input of block b: the last convolution before it, and the
  // projection next to that, if there is one.
  const ConvUnit& main_unit(std::size_t b) const;
  const ConvUnit* side_unit(std::size_t b) const;
  // The input of block b, from what precedes it, for `count` images from `first`; it is kept in x(b).
  Activation block_input(std::size_t b, int first, int count, Scratch& scratch);
  // The gradient at a unit's z, from that at the output of its batch norm.
  Activation output_gradient(const ConvUnit& unit, const float* d, int image);
  Output statistics(const ConvUnit& unit, int image, const Slice<float>& slice, int which);
  InputGradient input_gradient(std::size_t b, int image, const Slice<float>& slice);
  void finish_sums(std::size_t b, const Slice<float>& slice) const;
  void down_forward(std::size_t b, const Slice<float>& slice);
  void down_backward(std::size_t b, const Slice<float>& slice);
  void fill_stem_grid(int image, float* grid) const;
  void predict_same(const ConvUnit& unit, int images, const float* in, const float* skip, float* out,
                    Scratch& scratch);
  void predict_down(const BlockPlan& block, int images, Scratch& scratch);

  NetworkPlan plan_;
  int max_batch_;
  const Kernels& kernels_;
  std::vector<const ConvUnit*> units_;
  std::vector<std::size_t> weight_offset_;
  Buffer<float> forward_weights_;
  Buffer<float> backward_weights_;  // with input and output channels exchanged
  std::vector<Scratch> scratch_;
  std::unique_ptr<Activations> activations_;  // training only
  StepInput<float> step_;
};

}  // namespace longtail::nn::simd
