#include "longtail/nn/reference_backend.h"

#include <algorithm>
#include <vector>

#include "longtail/nn/reference_layers.h"

namespace longtail::nn {
namespace {

using reference::Tensor;
using Image = Tensor<double>;  // of one image

class ReferenceBackend final : public Backend<double> {
 public:
  ReferenceBackend(const ResNetSpec& spec, int max_batch, int workers)
      : plan_(network_plan(spec)), max_batch_(max_batch), predicted_(static_cast<std::size_t>(workers)) {}

  std::string_view name() const override { return "reference"; }
  data::PixelLayout input_layout() const override { return data::PixelLayout::kNchwF32; }
  int slice_images() const override { return 1; }
  std::size_t weight_sums(const ConvUnit& unit) const override {
    return static_cast<std::size_t>(unit.weight_size());
  }

  void allocate_training() override {
    const auto batch = static_cast<std::size_t>(max_batch_);
    raw_.resize(static_cast<std::size_t>(plan_.units), std::vector<Image>(batch));
    input_.resize(plan_.blocks.size() + 1, std::vector<Image>(batch));
    input_gradient_.resize(plan_.blocks.size() + 1, std::vector<Image>(batch));
    hidden_gradient_.resize(plan_.blocks.size(), std::vector<Image>(batch));
  }
  void begin(const StepInput<double>& step) override { step_ = step; }
  int pack_pieces(Packing) const override { return 1; }
  void pack(Packing, int, int, std::span<const double> parameters) override { parameters_ = parameters; }

  void stem_forward(const Slice<double>& slice) override {
    each(slice, [&](int image) { convolve_unit(plan_.stem, pixels(image), image, 0, slice); });
  }
  void first_forward(std::size_t b, const Slice<double>& slice) override {
    const BlockPlan& block = plan_.blocks[b];
    each(slice, [&](int image) {
      Image& x = of(input_, b, image) = block_input(b, image);
      convolve_unit(block.first, x, image, 0, slice);
      if (block.skip == Skip::kProjection) convolve_unit(block.projection, x, image, 1, slice);
    });
  }
  void second_forward(std::size_t b, const Slice<double>& slice) override {
    each(slice, [&](int image) { convolve_unit(plan_.blocks[b].second, hidden(b, image), image, 0, slice); });
  }
  void features_forward(const Slice<double>& slice, double* features) override {
    each(slice, [&](int image) {
      Image& x = of(input_, plan_.blocks.size(), image) = block_input(plan_.blocks.size(), image);
      const std::vector<double> mean = reference::mean_pixels(x);
      std::copy(mean.begin(), mean.end(), features + std::ptrdiff_t{image} * plan_.features);
    });
  }

  void features_backward(const Slice<double>& slice, const double* gradients) override {
    each(slice, [&](int image) {
      const double* from = gradients + std::ptrdiff_t{image} * plan_.features;
      const Image& x = of(input_, plan_.blocks.size(), image);
      finish_input(plan_.blocks.size(), image,
                   reference::mean_pixels_backward(std::vector<double>(from, from + plan_.features), x),
                   slice);
    });
  }
  void second_backward(std::size_t b, const Slice<double>& slice) override {
    const BlockPlan& block = plan_.blocks[b];
    clear(slice.weight_sums, block.second);
    each(slice, [&](int image) {
      const Image h = hidden(b, image);
      Image d = unit_backward(block.second, of(input_gradient_, b + 1, image), h, image, slice.weight_sums);
      reference::relu_backward(h, d);
      add_sums(block.first, d, image, 0, slice);
      of(hidden_gradient_, b, image) = std::move(d);
    });
  }
  void first_backward(std::size_t b, const Slice<double>& slice) override {
    const BlockPlan& block = plan_.blocks[b];
    clear(slice.weight_sums, block.first);
    if (block.skip == Skip::kProjection) clear(slice.projection_sums, block.projection);
    each(slice, [&](int image) {
      const Image& x = of(input_, b, image);
      const Image& upstream = of(input_gradient_, b + 1, image);
      Image d = unit_backward(block.first, of(hidden_gradient_, b, image), x, image, slice.weight_sums);
      reference::add(d, skip_backward(block, upstream, x, image, slice));
      finish_input(b, image, std::move(d), slice);
    });
  }
  void stem_backward(const Slice<double>& slice) override {
    clear(slice.weight_sums, plan_.stem);
    each(slice, [&](int image) {
      unit_backward(plan_.stem, of(input_gradient_, 0, image), pixels(image), image, slice.weight_sums);
    });
  }
  void unpack_weights(const ConvUnit& unit, const double* sums, int first, int last,
                      double* weights) override {
    const std::int64_t size = unit.weight_size() / unit.out;
    std::copy(sums + first * size, sums + last * size, weights + first * size);
  }

  int predict_images() const override { return 1; }
  void predict_stem(const Slice<double>& slice) override {
    Image& x = predicted(slice);
    x = reference::relu(folded(plan_.stem, pixels(slice.first)));
  }
  void predict_block(std::size_t b, const Slice<double>& slice) override {
    const BlockPlan& block = plan_.blocks[b];
    Image& x = predicted(slice);
    Image sum = folded(block.second, reference::relu(folded(block.first, x)));
    reference::add(sum, block.skip == Skip::kIdentity ? x
                        : block.skip == Skip::kPad
                            ? reference::pad_shortcut(x, block.first.out, block.first.stride)
                            : folded(block.projection, x));
    x = reference::relu(std::move(sum));
  }
  void predict_features(const Slice<double>& slice, double* features) override {
    const std::vector<double> mean = reference::mean_pixels(predicted(slice));
    std::copy(mean.begin(), mean.end(), features + std::ptrdiff_t{slice.first} * plan_.features);
  }

 private:
  template <class Visit>
  static void each(const Slice<double>& slice, const Visit& visit) {
    for (int i = 0; i < slice.count(); ++i) visit(slice.image(i));
  }
  static Image& of(std::vector<std::vector<Image>>& images, std::size_t which, int image) {
    return images[which][static_cast<std::size_t>(image)];
  }
  Image& raw(const ConvUnit& unit, int image) {
    return of(raw_, static_cast<std::size_t>(unit.index), image);
  }
  Image& predicted(const Slice<double>& slice) { return predicted_[static_cast<std::size_t>(slice.worker)]; }
  const Norm<double>& norm(const ConvUnit& unit) const {
    return step_.norms[static_cast<std::size_t>(unit.index)];
  }
  std::span<const double> weights(const ConvUnit& unit) const {
    return parameters_.subspan(static_cast<std::size_t>(unit.weight),
                               static_cast<std::size_t>(unit.weight_size()));
  }
  static void clear(double* sums, const ConvUnit& unit) { std::fill_n(sums, unit.weight_size(), 0.0); }

  Image pixels(int image) const {
    Image result(1, plan_.channels(), plan_.side);
    const float* from =
        static_cast<const float*>(step_.images) + static_cast<std::size_t>(image) * result.values.size();
    std::copy_n(from, result.values.size(), result.values.begin());
    return result;
  }

  // Every value of an image with its channel.
  template <class Visit>
  static void each_value(const Image& image, const Visit& visit) {
    const std::size_t pixels = static_cast<std::size_t>(image.side) * static_cast<std::size_t>(image.side);
    for (std::size_t i = 0; i < image.values.size(); ++i) visit(i, i / pixels);
  }
  Image convolved(const ConvUnit& unit, const Image& x) const {
    return reference::convolve(x, weights(unit), unit.out, unit.kernel, unit.stride);
  }
  void convolve_unit(const ConvUnit& unit, const Image& x, int image, int which, const Slice<double>& slice) {
    const Image& z = raw(unit, image) = convolved(unit, x);
    each_value(z, [&](std::size_t i, std::size_t c) {
      slice.sums.sum[which][c] += z.values[i];
      slice.sums.product[which][c] += z.values[i] * z.values[i];
    });
  }
  Image folded(const ConvUnit& unit, const Image& x) const {
    Image y = convolved(unit, x);
    each_value(y, [&](std::size_t i, std::size_t c) { y.values[i] += norm(unit).shift[c]; });
    return y;
  }
  Image normalised(const ConvUnit& unit, int image) {
    Image y = raw(unit, image);
    const Norm<double>& n = norm(unit);
    each_value(y, [&](std::size_t i, std::size_t c) { y.values[i] = y.values[i] * n.scale[c] + n.shift[c]; });
    return y;
  }
  Image hidden(std::size_t b, int image) { return reference::relu(normalised(plan_.blocks[b].first, image)); }
  // What block b reads: the stem's output, or that of the block before.
  Image block_input(std::size_t b, int image) {
    if (b == 0) return reference::relu(normalised(plan_.stem, image));
    const BlockPlan& previous = plan_.blocks[b - 1];
    Image sum = normalised(previous.second, image);
    const Image& x = of(input_, b - 1, image);
    reference::add(sum, previous.skip == Skip::kIdentity ? x
                        : previous.skip == Skip::kPad
                            ? reference::pad_shortcut(x, previous.first.out, previous.first.stride)
                            : normalised(previous.projection, image));
    return reference::relu(std::move(sum));
  }

  // From the gradient at the output of a unit's batch norm to that at its input; adds to the weight sums.
  Image unit_backward(const ConvUnit& unit, const Image& upstream, const Image& input, int image,
                      double* weight_sums) {
    const Image& z = raw(unit, image);
    const Norm<double>& n = norm(unit);
    Image d(1, unit.out, unit.out_side());
    each_value(d, [&](std::size_t i, std::size_t c) {
      d.values[i] = upstream.values[i] * n.a[c] + z.values[i] * n.b[c] + n.c[c];
    });
    reference::convolve_weights(input, d, unit.kernel, unit.stride,
                                std::span(weight_sums, static_cast<std::size_t>(unit.weight_size())));
    return reference::convolve_data(d, weights(unit), unit.in, unit.kernel, unit.stride, unit.side);
  }
  Image skip_backward(const BlockPlan& block, const Image& upstream, const Image& x, int image,
                      const Slice<double>& slice) {
    if (block.skip == Skip::kIdentity) return upstream;
    if (block.skip == Skip::kPad) {
      return reference::pad_shortcut_backward(upstream, block.first.in, block.first.stride);
    }
    return unit_backward(block.projection, upstream, x, image, slice.projection_sums);
  }
  void add_sums(const ConvUnit& unit, const Image& d, int image, int which, const Slice<double>& slice) {
    const Image& z = raw(unit, image);
    each_value(d, [&](std::size_t i, std::size_t c) {
      slice.sums.sum[which][c] += d.values[i];
      slice.sums.product[which][c] += d.values[i] * (z.values[i] - norm(unit).mean[c]);
    });
  }
  // The gradient at a block's input, through the ReLU there, and the sums of the batch norms before it.
  void finish_input(std::size_t b, int image, Image d, const Slice<double>& slice) {
    reference::relu_backward(of(input_, b, image), d);
    add_sums(b == 0 ? plan_.stem : plan_.blocks[b - 1].second, d, image, 0, slice);
    if (b > 0 && plan_.blocks[b - 1].skip == Skip::kProjection) {
      add_sums(plan_.blocks[b - 1].projection, d, image, 1, slice);
    }
    of(input_gradient_, b, image) = std::move(d);
  }

  NetworkPlan plan_;
  int max_batch_;
  StepInput<double> step_;
  std::span<const double> parameters_;
  std::vector<std::vector<Image>> raw_;              // [unit][image]: output of the convolution
  std::vector<std::vector<Image>> input_;            // [block][image]; one more for the last output
  std::vector<std::vector<Image>> input_gradient_;   // likewise
  std::vector<std::vector<Image>> hidden_gradient_;  // [block][image]: at the first unit's output
  std::vector<Image> predicted_;                     // of a worker
};

}  // namespace

std::unique_ptr<Backend<double>> make_reference_backend(const ResNetSpec& spec, int max_batch, int workers) {
  return std::make_unique<ReferenceBackend>(spec, max_batch, workers);
}

}  // namespace longtail::nn
