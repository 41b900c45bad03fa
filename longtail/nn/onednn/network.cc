#include "longtail/nn/onednn/network.h"

#include <algorithm>

#include "longtail/nn/image_loss.h"
#include "longtail/nn/onednn/small_layers.h"

namespace longtail::nn::onednn {
namespace {

constexpr int kScratches = 5;
constexpr int kFeatures = 64;
constexpr int kFinalSide = 8;
constexpr int kFinalPixels = kFinalSide * kFinalSide;
// Of any tensor of a slice: 4 images of 16 x 32 x 32, or 8 of 32 x 16 x 16.
constexpr std::size_t kSliceFloats = std::size_t{kFewestSliceImages} * 16 * 32 * 32;

std::size_t at(std::size_t size, int image) { return size * static_cast<std::size_t>(image); }

// Whose output is kept: the stem's (-1) and every second block's. The others are made again from the one
// before.
bool is_kept(int block) { return block % 2 != 0; }

int stage_of(int side) { return side == 32 ? 0 : side == 16 ? 1 : 2; }

}  // namespace

Network::Network(const ResNetSpec& spec, int max_batch, int workers)
    : spec_(spec),
      plan_(network_plan(spec)),
      max_batch_(max_batch),
      slots_(std::max((max_batch + kFewestSliceImages - 1) / kFewestSliceImages, 2 * workers)),
      block_(channel_block()),
      kernels_(kernels(block_)),
      context_(workers) {
  stem_ = &add_unit(plan_.stem);
  for (const BlockPlan& b : plan_.blocks) {
    Block& block = blocks_.emplace_back();
    block.skip = b.skip;
    block.first = &add_unit(b.first);
    block.second = &add_unit(b.second);
    if (b.skip == Skip::kProjection) block.projection = &add_unit(b.projection);
  }
  const auto classes = static_cast<std::size_t>(spec.classes);
  for (int i = 0; i < workers * kScratches; ++i) {
    // The last holds a block's input made again: behind a pad shortcut, of 8 images of twice the side.
    const std::size_t size = i % kScratches == kScratches - 1 ? 2 * kSliceFloats : kSliceFloats;
    scratch_.emplace_back(std::max(size, classes));
  }
  linear_ = Aligned<float>(classes * kFeatures);
  linear_transposed_ = Aligned<float>(classes * kFeatures);
  linear_bias_ = Aligned<float>(classes);
  features_.resize(static_cast<std::size_t>(max_batch) * kFeatures);
  logit_gradients_.resize(static_cast<std::size_t>(max_batch) * classes);
  plan_memory();
}

Convolution& Network::convolution(const ConvUnit& plan) {
  const ConvShape shape{plan.in, plan.out, plan.kernel, plan.stride, plan.side};
  const auto found = convolutions_.find(shape);
  if (found != convolutions_.end()) return found->second;
  const int images = std::min(slice_images(plan.side), max_batch_);
  return convolutions_.emplace(shape, Convolution(context_, shape, images)).first->second;
}

Unit& Network::add_unit(const ConvUnit& plan) { return units_.emplace_back(plan, convolution(plan), slots_); }

void Network::plan_memory() {
  const auto batch = static_cast<std::size_t>(max_batch_);
  std::size_t total = 0;
  for (const Unit& unit : units_) total += unit.out_size() * batch;
  const int last = static_cast<int>(blocks_.size()) - 1;  // whose output only the head reads, at once
  for (int b = -1; b < last; ++b) {
    if (is_kept(b)) total += output_unit(b).out_size() * batch;
  }
  arena_ = Aligned<float>(total);
  float* next = arena_.data();
  const auto take = [&next](std::size_t size) { return std::exchange(next, next + size); };
  for (Unit& unit : units_) unit.raw = take(unit.out_size() * batch);
  for (int b = -1; b < last; ++b) {
    if (is_kept(b)) output_unit(b).output = take(output_unit(b).out_size() * batch);
  }
  for (int stage = 0; stage < 3; ++stage) {
    gradients_[stage] = Aligned<float>(batch * kSliceFloats / kFewestSliceImages >> stage);
  }
  // Each loop's weight gradients are added up during the next loop, so two areas alternate.
  std::size_t sizes[3] = {};
  std::vector<std::pair<Unit*, int>> areas;
  int turn = 0;
  const auto assign = [&](Unit* unit, int area) {
    const int slices = (max_batch_ + slice_images(unit->plan().side) - 1) / slice_images(unit->plan().side);
    sizes[area] =
        std::max(sizes[area], unit->convolution().gradient_weights() * static_cast<std::size_t>(slices));
    areas.emplace_back(unit, area);
  };
  assign(stem_, turn);
  for (const Block& block : blocks_) {
    assign(block.first, turn ^= 1);
    assign(block.second, turn ^= 1);
    if (block.projection) assign(block.projection, 2);
  }
  for (int area = 0; area < 3; ++area) partials_[area] = Aligned<float>(sizes[area]);
  for (const auto& [unit, area] : areas) unit->weight_partials = partials_[area].data();
}

void Network::prepare_training(int batch) {
  if (batch == prepared_batch_) return;
  for (auto& [shape, convolution] : convolutions_) {
    const int images = slice_images(shape.side);
    if (batch >= images) convolution.prepare_training(images);
    if (batch % images != 0) convolution.prepare_training(batch % images);
  }
  prepared_batch_ = batch;
}

void Network::prepare_frozen(int images) {
  for (auto& [shape, convolution] : convolutions_) convolution.prepare_training(images);
}

void Network::prepare_predict(int images) {
  stem_->convolution().prepare_forward(images, Epilogue::kBiasRelu);
  for (const Block& block : blocks_) {
    block.first->convolution().prepare_forward(images, Epilogue::kBiasRelu);
    block.second->convolution().prepare_forward(images, Epilogue::kBiasSumRelu);
    if (block.projection) block.projection->convolution().prepare_forward(images, Epilogue::kBias);
  }
}

void Network::pack_linear(std::span<const float> parameters) {
  const auto classes = static_cast<std::size_t>(spec_.classes);
  const float* weight = parameters.data() + plan_.linear_weight;
  std::copy_n(weight, linear_.size(), linear_.data());
  std::copy_n(parameters.data() + plan_.linear_bias, classes, linear_bias_.data());
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t f = 0; f < kFeatures; ++f)
      linear_transposed_[f * classes + k] = weight[k * kFeatures + f];
  }
}

float* Network::scratch(int worker, int which) {
  return scratch_[static_cast<std::size_t>(worker * kScratches + which)].data();
}

SliceShape Network::shape(const Unit& unit, int images) const {
  return {images, unit.plan().out, unit.out_pixels()};
}

float* Network::raw(const Unit& unit, int image) const { return unit.raw + at(unit.out_size(), image); }

float* Network::gradient_of_output(int side, int image) {
  const int stage = stage_of(side);
  return gradients_[stage].data() + at(kSliceFloats / kFewestSliceImages >> stage, image);
}

// A block's input: what was kept, or made again in a scratch buffer of its own.
const float* Network::block_input(int block, const Slice& s) {
  const Unit& unit = output_unit(block - 1);
  if (is_kept(block - 1)) return unit.output + at(unit.out_size(), s.first);
  float* room = scratch(s.worker, 4);
  make_output(block - 1, s, room);
  return room;
}

// relu(batch norm + skip) of a block, or of the stem (-1).
void Network::make_output(int block, const Slice& s, float* output) {
  const Unit& unit = output_unit(block);
  const SliceShape size = shape(unit, s.images);
  const float* x = raw(unit, s.first);
  if (block < 0) return kernels_.affine_relu(size, x, unit.forward(), output);
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  if (b.projection) {
    const float* other = raw(*b.projection, s.first);
    return kernels_.affine_pair_relu(size, x, unit.forward(), other, b.projection->forward(), output);
  }
  const float* skip = block_input(block, s);
  if (b.skip == Skip::kPad) {
    float* padded = scratch(s.worker, 3);
    pad_shortcut(size, b.first->plan().in, block_, skip, padded);
    skip = padded;
  }
  kernels_.affine_add_relu(size, x, unit.forward(), skip, output);
}

void Network::convolve(Unit& unit, const Slice& s, const float* input) {
  float* output = raw(unit, s.first);
  unit.convolution().forward(s.worker, s.images, input, unit.forward_weights(), output);
  kernels_.statistics(shape(unit, s.images), output, unit.sums(s.slot));
}

void Network::stem_forward(const Slice& s, const float* images) {
  convolve(*stem_, s, images + at(static_cast<std::size_t>(spec_.channels) * data::kPixels, s.first));
}

void Network::first_forward(int block, const Slice& s) {
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  const Unit& before = output_unit(block - 1);
  float* input = is_kept(block - 1) ? before.output + at(before.out_size(), s.first) : scratch(s.worker, 4);
  make_output(block - 1, s, input);
  convolve(*b.first, s, input);
  if (b.projection) convolve(*b.projection, s, input);
}

void Network::second_forward(int block, const Slice& s) {
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  float* hidden = scratch(s.worker, 0);
  kernels_.affine_relu(shape(*b.first, s.images), raw(*b.first, s.first), b.first->forward(), hidden);
  convolve(*b.second, s, hidden);
}

void Network::head(const Slice& s, const Batch& batch, const Loss& loss, const HeadResult& result) {
  const int last = static_cast<int>(blocks_.size()) - 1;
  const Block& b = blocks_.back();
  float* output = scratch(s.worker, 0);
  float* upstream = gradient_of_output(kFinalSide, s.first);
  make_output(last, s, output);
  const auto classes = static_cast<std::size_t>(spec_.classes);
  const std::span<float> logits(scratch(s.worker, 1), classes);
  for (int i = 0; i < s.images; ++i) {
    const auto n = static_cast<std::size_t>(s.first + i);
    const std::size_t offset = at(std::size_t{kFeatures} * kFinalPixels, i);
    const auto features = std::span(features_).subspan(n * kFeatures, kFeatures);
    const auto slopes = std::span(logit_gradients_).subspan(n * classes, classes);
    mean_pixels(kFeatures, kFinalPixels, block_, output + offset, features.data());
    linear(features, linear_transposed_.data(), {linear_bias_.data(), classes}, logits);
    bool hit = false;
    result.losses[n] = image_loss(loss, batch, s.first + i, logits, slopes, hit);
    result.correct[n] = hit;
    for (float& slope : slopes) slope *= static_cast<float>(result.scale);
    float feature_slopes[kFeatures];
    linear_backward(slopes, linear_.data(), feature_slopes);
    mean_pixels_backward(kFeatures, kFinalPixels, block_, output + offset, feature_slopes, upstream + offset);
  }
  const Unit& unit = *b.second;
  kernels_.gradient_sums(shape(unit, s.images), upstream, raw(unit, s.first), unit.mean(),
                         b.second->sums(s.slot));
}

void Network::weight_gradient(Unit& unit, const Slice& s, const float* input, const float* upstream,
                              float* flat) {
  Convolution& convolution = unit.convolution();
  if (!flat) {
    float* partial = unit.weight_partials + at(convolution.gradient_weights(), s.slot);
    return convolution.weight_gradient(s.worker, s.images, input, upstream, partial);
  }
  float* packed = scratch(s.worker, 3);
  convolution.weight_gradient(s.worker, s.images, input, upstream, packed);
  convolution.unpack_gradient(s.worker, packed, flat + unit.plan().weight);
}

void Network::second_backward(int block, const Slice& s, float* flat) {
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  Unit &first = *b.first, &second = *b.second;
  float *slope = scratch(s.worker, 0), *hidden = scratch(s.worker, 1);
  const SliceShape size = shape(second, s.images);
  const float* upstream = gradient_of_output(second.plan().out_side(), s.first);
  kernels_.norm_backward(size, upstream, raw(second, s.first), second.backward(), slope);
  kernels_.affine_relu(size, raw(first, s.first), first.forward(), hidden);
  weight_gradient(second, s, hidden, slope, flat);
  float* hidden_slope = raw(second, s.first);  // whose own values are used up
  second.convolution().input_gradient(s.worker, s.images, slope, second.backward_weights(), hidden_slope);
  kernels_.masked_sums(size, hidden_slope, hidden, raw(first, s.first), first.mean(), first.sums(s.slot));
}

// The gradient of a block's input that comes by the shortcut.
const float* Network::skip_gradient(const Block& b, const Slice& s, const float* input, float* flat) {
  const float* upstream = gradient_of_output(b.second->plan().out_side(), s.first);
  if (b.skip == Skip::kIdentity) return upstream;
  float* result = scratch(s.worker, 2);
  if (b.skip == Skip::kPad) {
    pad_shortcut_backward(shape(*b.second, s.images), b.first->plan().in, block_, upstream, result);
    return result;
  }
  Unit& unit = *b.projection;
  float* slope = scratch(s.worker, 0);
  kernels_.norm_backward(shape(unit, s.images), upstream, raw(unit, s.first), unit.backward(), slope);
  weight_gradient(unit, s, input, slope, flat);
  unit.convolution().input_gradient(s.worker, s.images, slope, unit.backward_weights(), result);
  return result;
}

void Network::first_backward(int block, const Slice& s, float* flat) {
  const Block& b = blocks_[static_cast<std::size_t>(block)];
  Unit &first = *b.first, &before = output_unit(block - 1);
  float *slope = scratch(s.worker, 0), *input_slope = scratch(s.worker, 1);
  const float* input = block_input(block, s);
  const float* upstream = raw(*b.second, s.first);  // where second_backward left it
  kernels_.masked_norm_backward(shape(first, s.images), upstream, raw(first, s.first), first.forward(),
                                first.backward(), slope);
  weight_gradient(first, s, input, slope, flat);
  first.convolution().input_gradient(s.worker, s.images, slope, first.backward_weights(), input_slope);
  const float* skip = skip_gradient(b, s, input, flat);
  float* result = gradient_of_output(before.plan().out_side(), s.first);
  const SliceShape size = shape(before, s.images);
  kernels_.join_sums(size, input_slope, skip, input, raw(before, s.first), before.mean(), result,
                     before.sums(s.slot));
  Unit* projection = block > 0 ? blocks_[static_cast<std::size_t>(block - 1)].projection : nullptr;
  if (projection) {
    kernels_.gradient_sums(size, result, raw(*projection, s.first), projection->mean(),
                           projection->sums(s.slot));
  }
}

void Network::stem_backward(const Slice& s, const float* images, float* flat) {
  float* slope = scratch(s.worker, 0);
  kernels_.norm_backward(shape(*stem_, s.images), gradient_of_output(stem_->plan().side, s.first),
                         raw(*stem_, s.first), stem_->backward(), slope);
  const float* input = images + at(static_cast<std::size_t>(spec_.channels) * data::kPixels, s.first);
  weight_gradient(*stem_, s, input, slope, flat);
}

void Network::reduce_weights(Unit& unit, int slices, int worker, std::span<float> gradient) {
  const std::size_t size = unit.convolution().gradient_weights();
  float* total = unit.weight_partials;
  for (int slot = 1; slot < slices; ++slot) {
    const float* part = unit.weight_partials + at(size, slot);
    for (std::size_t i = 0; i < size; ++i) total[i] += part[i];
  }
  unit.convolution().unpack_gradient(worker, total, gradient.data() + unit.plan().weight);
}

void Network::linear_gradient(int first, int count, std::span<float> gradient) {
  const auto classes = static_cast<std::size_t>(spec_.classes);
  const auto n = static_cast<std::size_t>(first);
  linear_weight_gradient(count, std::span(logit_gradients_).subspan(n * classes),
                         std::span(features_).subspan(n * kFeatures),
                         gradient.subspan(static_cast<std::size_t>(plan_.linear_weight), classes * kFeatures),
                         gradient.subspan(static_cast<std::size_t>(plan_.linear_bias), classes));
}

void Network::predict(const Slice& s, const float* images, std::span<float> logits) {
  float *x = scratch(s.worker, 0), *hidden = scratch(s.worker, 1), *skip = scratch(s.worker, 2);
  const auto run = [&s](const Unit& unit, Epilogue epilogue, const float* input, float* output) {
    unit.convolution().forward(s.worker, s.images, epilogue, input, unit.forward_weights(), unit.bias(),
                               output);
  };
  run(*stem_, Epilogue::kBiasRelu,
      images + at(static_cast<std::size_t>(spec_.channels) * data::kPixels, s.first), x);
  for (const Block& b : blocks_) {
    run(*b.first, Epilogue::kBiasRelu, x, hidden);
    if (b.skip == Skip::kProjection) run(*b.projection, Epilogue::kBias, x, skip);
    if (b.skip == Skip::kPad) pad_shortcut(shape(*b.second, s.images), b.first->plan().in, block_, x, skip);
    if (b.skip != Skip::kIdentity) std::swap(x, skip);
    run(*b.second, Epilogue::kBiasSumRelu, hidden, x);
  }
  const auto classes = static_cast<std::size_t>(spec_.classes);
  for (int i = 0; i < s.images; ++i) {
    float features[kFeatures];
    mean_pixels(kFeatures, kFinalPixels, block_, x + at(std::size_t{kFeatures} * kFinalPixels, i), features);
    linear(features, linear_transposed_.data(), {linear_bias_.data(), classes},
           logits.subspan(at(classes, s.first + i), classes));
  }
}

}  // namespace longtail::nn::onednn
