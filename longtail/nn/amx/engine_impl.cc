#include "longtail/nn/amx/engine_impl.h"

#include <algorithm>
#include <atomic>

#include "longtail/nn/amx/amx_engine.h"

namespace longtail::nn {
namespace amx {

AmxEngine::AmxEngine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool, AmxPrecision precision)
    : spec_(spec),
      fine_(precision == AmxPrecision::kFine),
      max_batch_(max_batch),
      pool_(pool),
      network_(spec) {
  for (int worker = 0; worker < pool.threads(); ++worker) scratch_.emplace_back(network_);
  norms_.resize(static_cast<std::size_t>(network_.layers));
  forward_weights_ = Buffer<Bf16>(network_.forward_index.size());
  if (fine_) forward_low_weights_ = Buffer<Bf16>(network_.forward_index.size());
  backward_weights_ = Buffer<Bf16>(network_.backward_index.size());
}

void AmxEngine::allocate_training() {
  if (activations_.size() > 0) return;
  const auto batch = static_cast<std::size_t>(max_batch_);
  std::size_t total = 0;
  const auto take = [&](int elements) {
    const std::size_t offset = total;
    total += batch * static_cast<std::size_t>(elements);
    return offset;
  };
  z_offset_.resize(static_cast<std::size_t>(network_.layers));
  const auto take_z = [&](const Layer& layer) {
    z_offset_[static_cast<std::size_t>(layer.index)] = take(layer.out_elements());
  };
  take_z(network_.stem);
  for (const Block& block : network_.blocks) {
    x_offset_.push_back(take(block.first.in_elements()));
    take_z(block.first);
    take_z(block.second);
    if (block.skip == Skip::kProjection) take_z(block.projection);
  }
  x_offset_.push_back(take(network_.blocks.back().second.out_elements()));
  activations_ = Buffer<Bf16>(total);
  if (fine_) lows_ = Buffer<Low>(total);
  stage_gradient_[0] = Buffer<Bf16>(batch * 1024 * 16);
  stage_gradient_[1] = Buffer<Bf16>(batch * 256 * 32);
  stage_gradient_[2] = Buffer<Bf16>(batch * 64 * 64);
  const int slices =
      std::max((max_batch_ + kSliceImages - 1) / kSliceImages, std::min(kRoundImages, max_batch_));
  slice_sums_.resize(static_cast<std::size_t>(slices));
  weight_sums_ =
      Buffer<float>(static_cast<std::size_t>(slices) * (Network::kWeightSums + Network::kProjectionSums));
  summed_ = Buffer<float>(Network::kWeightSums);
  const auto classes = static_cast<std::size_t>(spec_.classes);
  features_ = Buffer<float>(batch * kMaxChannels);
  logits_ = Buffer<float>(batch * classes);
  logit_gradient_ = Buffer<float>(batch * classes);
  losses_.resize(batch);
  correct_.resize(batch);
}

const void* AmxEngine::input(const Batch& batch, int image) const {
  return static_cast<const std::byte*>(batch.images) +
         static_cast<std::size_t>(image) * data::bytes_per_image(input_layout(), spec_.channels);
}
void AmxEngine::gather_input(const Batch& batch, int image, Scratch& s) {
  const void* pixels = input(batch, image);
  if (fine_) {
    pad_float_input(spec_.channels, static_cast<const float*>(pixels), s.padded.data(), s.padded_low.data());
    gather_neighbours(spec_.channels, s.padded_low.data(), grid_low(Kind::kFirst, s));
  } else {
    pad_input(spec_.channels, static_cast<const Bf16*>(pixels), s.padded.data());
  }
  gather_neighbours(spec_.channels, s.padded.data(), s.grid(Kind::kFirst));
}
Bf16* AmxEngine::z(const Layer& layer, int image) {
  return activations_.data() + z_offset_[static_cast<std::size_t>(layer.index)] +
         static_cast<std::size_t>(image) * static_cast<std::size_t>(layer.out_elements());
}
Bf16* AmxEngine::x(std::size_t b, int image) {
  const bool behind = b == network_.blocks.size();
  const int elements =
      behind ? network_.blocks.back().second.out_elements() : network_.blocks[b].first.in_elements();
  return activations_.data() + x_offset_[b] +
         static_cast<std::size_t>(image) * static_cast<std::size_t>(elements);
}

// Every worker starts with slices of its own, the same ones in every pass, whose arrays its cache may still
// hold, and then helps the others.
void AmxEngine::run(const SliceBody& body) {
  const int images = step_.batch->size, slices = step_.slices(), workers = pool_.threads();
  std::vector<std::atomic<int>> next(static_cast<std::size_t>(workers));
  const auto share = [&](int worker) { return slices * worker / workers; };
  for (int w = 0; w < workers; ++w) next[static_cast<std::size_t>(w)] = share(w);
  pool_.run(workers, [&](int, int worker) {
    const TileScope tiles;
    for (int turn = 0; turn < workers; ++turn) {
      const int owner = (worker + turn) % workers;
      for (;;) {
        const int taken = next[static_cast<std::size_t>(owner)].fetch_add(1);
        if (taken >= share(owner + 1)) break;
        const int index = backwards_ ? share(owner) + share(owner + 1) - 1 - taken : taken;
        const auto i = static_cast<std::size_t>(index);
        SliceSums& sums = slice_sums_[i];
        sums = {};
        const int first = index * step_.slice_images;
        body({first, std::min(first + step_.slice_images, images), backwards_, sums,
              weight_sums_.data() + i * (Network::kWeightSums + Network::kProjectionSums),
              scratch_[static_cast<std::size_t>(worker)]});
      }
    }
  });
  backwards_ = !backwards_;
}

void AmxEngine::begin(std::span<const float> parameters, std::span<const float> running) {
  backwards_ = false;
  constexpr std::size_t kPiece = 16 * kTileElements;
  const auto pieces = [](std::size_t size) { return static_cast<int>((size + kPiece - 1) / kPiece); };
  const int forward_pieces = pieces(network_.forward_index.size());
  const int backward_pieces = pieces(network_.backward_index.size());
  pool_.run(forward_pieces + backward_pieces, [&](int index, int) {
    const bool forward = index < forward_pieces;
    const auto& from = forward ? network_.forward_index : network_.backward_index;
    Bf16* to = forward ? forward_weights_.data() : backward_weights_.data();
    const std::size_t first = static_cast<std::size_t>(forward ? index : index - forward_pieces) * kPiece;
    const std::size_t count = std::min(kPiece, from.size() - first);
    gather_bf16(count, from.data() + first, parameters.data(), to + first);
    if (fine_ && forward) {
      gather_bf16_low(count, from.data() + first, parameters.data(), forward_low_weights_.data() + first);
    }
  });
  if (running.empty()) return;
  const auto set = [&](const Layer& layer) { norm(layer).from_running(layer, parameters, running); };
  set(network_.stem);
  for (const Block& block : network_.blocks) {
    set(block.first);
    set(block.second);
    if (block.skip == Skip::kProjection) set(block.projection);
  }
}

StepResult AmxEngine::train_step() {
  forward();
  backward();
  return result();
}

StepResult AmxEngine::gradient(std::span<const float> parameters, std::span<float> buffers,
                               const Batch& batch, const Loss& loss, std::span<float> gradient) {
  check_batch(spec_, batch, max_batch_, true);
  allocate_training();
  step_ = {.parameters = parameters,
           .buffers = buffers,
           .batch = &batch,
           .loss = &loss,
           .weight = 1.0 / batch.size,
           .gradients = {gradient}};
  begin(parameters, {});
  return train_step();
}

void AmxEngine::frozen_gradient(std::span<const float> parameters, std::span<const float> buffers,
                                const Batch& batch, const Loss& loss, std::span<float> gradient) {
  check_batch(spec_, batch, max_batch_, true);
  allocate_training();
  step_ = {.parameters = parameters,
           .buffers = {},
           .batch = &batch,
           .loss = &loss,
           .weight = 1.0 / batch.size,
           .gradients = {gradient}};
  begin(parameters, buffers);
  train_step();
}

void AmxEngine::image_gradients(std::span<const float> parameters, std::span<const float> buffers,
                                const Batch& batch, const Loss& loss, const ImageSink& sink) {
  check_batch(spec_, batch, max_batch_, true);
  allocate_training();
  begin(parameters, buffers);
  std::vector<std::vector<float>> gradients(
      static_cast<std::size_t>(std::min(kRoundImages, batch.size)),
      std::vector<float>(static_cast<std::size_t>(network_.parameter_count)));
  for (int first = 0; first < batch.size; first += kRoundImages) {
    const int count = std::min(kRoundImages, batch.size - first);
    const Batch part{input(batch, first),
                     batch.labels.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                     count};
    step_ = {.parameters = parameters, .buffers = {}, .batch = &part, .loss = &loss, .slice_images = 1};
    for (int i = 0; i < count; ++i) step_.gradients.push_back(gradients[static_cast<std::size_t>(i)]);
    train_step();
    for (int i = 0; i < count; ++i) sink(first + i, gradients[static_cast<std::size_t>(i)]);
  }
}

}  // namespace amx

std::unique_ptr<Engine> make_amx_engine(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool,
                                        AmxPrecision precision) {
  return std::make_unique<amx::AmxEngine>(spec, max_batch, pool, precision);
}

}  // namespace longtail::nn
