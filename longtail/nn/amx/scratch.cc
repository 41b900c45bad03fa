#include "longtail/nn/amx/scratch.h"

namespace longtail::nn::amx {
Scratch::Scratch(const TileNetwork& network) {
  std::size_t grid_total = 0, pair_total = 0;
  const auto align = [](std::size_t elements) { return (elements + 31) / 32 * 32; };
  for (int k = 0; k < kKinds; ++k) {
    const ConvKind kind = static_cast<ConvKind>(k);
    const Geometry& g = network.geometry(kind);
    const bool down16 = kind == ConvKind::kDown16;  // its input has the layout of kSame16's
    grid_offset[k] = down16 ? grid_offset[static_cast<std::size_t>(ConvKind::kSame16)] : grid_total;
    pair_offset[k] = down16 ? pair_offset[static_cast<std::size_t>(ConvKind::kSame16)] : pair_total;
    if (down16) continue;
    const std::size_t channels = kind == ConvKind::kFirst ? 32 : static_cast<std::size_t>(g.in_channels);
    grid_total += align(2 * network.grid_elements(kind));
    pair_total += align(static_cast<std::size_t>(g.pairs.positions) * channels * 2 * kGroup);
  }
  grids = Buffer<Bf16>(grid_total + 64);
  pairs = Buffer<Bf16>(pair_total);
  transposed = Buffer<Bf16>(32 * kTileElements);  // 32x32x16, or kGroup times 8x8x64
  transposed_projection = Buffer<Bf16>(32 * kTileElements);
  values = Buffer<Bf16>(1024 * 16);
  inner_values = Buffer<Bf16>(1024 * 16);
  skip_values = Buffer<Bf16>(1024 * 16);
  skip_values_low = Buffer<LowBits>(1024 * 16);
  padded = Buffer<Bf16>(kPaddedInput);
  padded_low = Buffer<Bf16>(kPaddedInput);
  sums = Buffer<float>(kStripPixels * kMaxChannels);
}

}  // namespace longtail::nn::amx
