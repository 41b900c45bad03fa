// Convolution forward and its data gradient: four tiles of sums in flight, since a tile multiply takes 52
// cycles but one can start every 16.
#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/tile.h"

namespace longtail::nn::amx {
namespace {

template <int kSum>
inline void up_tile(const UpShape& shape, const char* operand, const Bf16* weights) {
  for (int e = shape.first_entry[kSum]; e < shape.first_entry[kSum + 1]; ++e) {
    tile_load<4>(operand + shape.operand_offset[e], shape.row_stride);
    tile_load<5>(weights + shape.weight_tile[e] * kTileElements, 64);
    tile_multiply<kSum, 4, 5>();
  }
}

// Adds operand x weights to four tiles of sums.
[[gnu::always_inline]] inline void add_products(const ConvShape& shape, const char* operand,
                                                const std::int32_t* pixel_offset, const Bf16* weights) {
  const char* a0 = operand + pixel_offset[0];
  const char* a1 = operand + pixel_offset[1];
  const char* a2 = operand + pixel_offset[2];
  const char* a3 = operand + pixel_offset[3];
  const long stride = shape.row_stride;
  for (int chunk = 0; chunk < shape.chunks; ++chunk, weights += kTileElements) {
    const long offset = shape.chunk_offset[chunk];
    tile_load<6>(weights, 64);
    tile_load<4>(a0 + offset, stride);
    tile_multiply<0, 4, 6>();
    tile_load<5>(a1 + offset, stride);
    tile_multiply<1, 5, 6>();
    tile_load<4>(a2 + offset, stride);
    tile_multiply<2, 4, 6>();
    tile_load<5>(a3 + offset, stride);
    tile_multiply<3, 5, 6>();
  }
}

}  // namespace

TileScope::TileScope() { tile_configure(); }
TileScope::~TileScope() { tile_release(); }

void conv_strip(const ConvShape& shape, const void* operand, const std::int32_t* pixel_offset,
                const Bf16* weights, const Bf16* low_weights, float* sums) {
  fence();
  const char* a = static_cast<const char*>(operand);
  const long sum_stride = shape.column_tiles * 64L;
  for (int column = 0; column < shape.column_tiles; ++column) {
    tile_zero<0>();
    tile_zero<1>();
    tile_zero<2>();
    tile_zero<3>();
    const long tiles = static_cast<long>(column) * shape.chunks * kTileElements;
    add_products(shape, a, pixel_offset, weights + tiles);
    if (low_weights != nullptr) {
      add_products(shape, a + shape.low_operand, pixel_offset, weights + tiles);
      add_products(shape, a, pixel_offset, low_weights + tiles);
    }
    char* out = reinterpret_cast<char*>(sums) + column * 64L;
    tile_store<0>(out, sum_stride);
    tile_store<1>(out + 16 * sum_stride, sum_stride);
    tile_store<2>(out + 32 * sum_stride, sum_stride);
    tile_store<3>(out + 48 * sum_stride, sum_stride);
  }
}

void conv_up_strip(const UpShape& shape, const void* operand, const Bf16* weights, float* sums) {
  fence();
  const char* a = static_cast<const char*>(operand);
  const long pixel = shape.column_tiles * 64L;  // bytes of sums
  for (int column = 0; column < shape.column_tiles; ++column, weights += shape.weight_tiles * kTileElements) {
    tile_zero<0>();
    tile_zero<1>();
    tile_zero<2>();
    tile_zero<3>();
    up_tile<0>(shape, a, weights);
    up_tile<1>(shape, a, weights);
    up_tile<2>(shape, a, weights);
    up_tile<3>(shape, a, weights);
    char* out = reinterpret_cast<char*>(sums) + column * 64L;
    tile_store<0>(out, 2 * pixel);
    tile_store<1>(out + pixel, 2 * pixel);
    tile_store<2>(out + 32 * pixel, 2 * pixel);
    tile_store<3>(out + 33 * pixel, 2 * pixel);
  }
}

}  // namespace longtail::nn::amx
