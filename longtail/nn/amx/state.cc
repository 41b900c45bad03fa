#include "longtail/nn/amx/state.h"

#include <algorithm>

namespace longtail::nn::amx {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

std::size_t at(std::int64_t offset, int channel) { return static_cast<std::size_t>(offset + channel); }

struct Totals {
  double sum = 0;
  double product = 0;
};
Totals total(std::span<const SliceSums> slices, int which, int channel) {
  Totals t;
  for (const SliceSums& s : slices) {
    t.sum += s.sum[which][channel];
    t.product += s.product[which][channel];
  }
  return t;
}

}  // namespace

void Norm::set(int channel, double channel_mean, double variance, const Layer& layer,
               std::span<const float> parameters) {
  const double inv = 1 / std::sqrt(variance + kEpsilon);
  const double gamma = parameters[at(layer.unit.gamma, channel)];
  mean[channel] = static_cast<float>(channel_mean);
  inverse[channel] = static_cast<float>(inv);
  scale[channel] = static_cast<float>(gamma * inv);
  shift[channel] = static_cast<float>(parameters[at(layer.unit.beta, channel)] - channel_mean * gamma * inv);
}

void Norm::from_batch(const Layer& layer, std::span<const SliceSums> slices, int which, double count,
                      std::span<const float> parameters, std::span<float> buffers) {
  for (int ch = 0; ch < layer.unit.out; ++ch) {
    const Totals t = total(slices, which, ch);
    const double m = t.sum / count;
    const double variance = std::max(t.product / count - m * m, 0.0);
    set(ch, m, variance, layer, parameters);
    const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
    float& running_mean = buffers[at(layer.unit.mean, ch)];
    float& running_variance = buffers[at(layer.unit.variance, ch)];
    running_mean = static_cast<float>((1 - kMomentum) * running_mean + kMomentum * m);
    running_variance = static_cast<float>((1 - kMomentum) * running_variance + kMomentum * unbiased);
  }
}

void Norm::from_running(const Layer& layer, std::span<const float> parameters,
                        std::span<const float> buffers) {
  for (int ch = 0; ch < layer.unit.out; ++ch) {
    set(ch, buffers[at(layer.unit.mean, ch)], buffers[at(layer.unit.variance, ch)], layer, parameters);
  }
}

void Norm::backward(const Layer& layer, std::span<const SliceSums> slices, int which, double count,
                    bool frozen, std::span<float> gradient) {
  for (int ch = 0; ch < layer.unit.out; ++ch) {
    const Totals t = total(slices, which, ch);
    const double gamma_gradient = t.product * inverse[ch];
    gradient[at(layer.unit.gamma, ch)] = static_cast<float>(gamma_gradient);
    gradient[at(layer.unit.beta, ch)] = static_cast<float>(t.sum);
    // The statistics of the batch depend on every value; running ones on none.
    a[ch] = scale[ch];
    const double slope = frozen ? 0 : -scale[ch] * inverse[ch] * gamma_gradient / count;
    b[ch] = static_cast<float>(slope);
    c[ch] = frozen ? 0 : static_cast<float>(-scale[ch] * t.sum / count - slope * mean[ch]);
  }
}

Scratch::Scratch(const Network& network) {
  std::size_t grid_total = 0, pair_total = 0;
  const auto align = [](std::size_t elements) { return (elements + 31) / 32 * 32; };
  for (int k = 0; k < kKinds; ++k) {
    const Kind kind = static_cast<Kind>(k);
    const Geometry& g = network.geometry(kind);
    const bool down16 = kind == Kind::kDown16;  // its input lies as that of kSame16
    grid_offset[k] = down16 ? grid_offset[static_cast<std::size_t>(Kind::kSame16)] : grid_total;
    pair_offset[k] = down16 ? pair_offset[static_cast<std::size_t>(Kind::kSame16)] : pair_total;
    if (down16) continue;
    const std::size_t channels = kind == Kind::kFirst ? 32 : static_cast<std::size_t>(g.in_channels);
    grid_total += align(2 * network.grid_elements(kind));
    pair_total += align(static_cast<std::size_t>(g.pairs.positions) * channels * 2 * kGroup);
  }
  grids = Buffer<Bf16>(grid_total + 64);
  pairs = Buffer<Bf16>(pair_total);
  transposed = Buffer<Bf16>(32 * kTileElements);  // 32x32x16, or kGroup times 8x8x64
  transposed2 = Buffer<Bf16>(32 * kTileElements);
  values = Buffer<Bf16>(1024 * 16);
  values2 = Buffer<Bf16>(1024 * 16);
  values3 = Buffer<Bf16>(1024 * 16);
  values3_low = Buffer<Low>(1024 * 16);
  padded = Buffer<Bf16>(kPaddedInput);
  padded_low = Buffer<Bf16>(kPaddedInput);
  sums = Buffer<float>(kStripPixels * kMaxChannels);
}

}  // namespace longtail::nn::amx
