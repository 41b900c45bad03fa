// Weight gradient: the sum runs over pixels. The output's gradient comes channel-major, the input in
// interleaved pairs of pixels on the padded grid, where a tap of the kernel is an offset.
#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/tile.h"

namespace longtail::nn::amx {
namespace {

// Tiles 0 .. kRows * kColumns - 1 hold the sums, the next kRows the left operand; the right operands take
// turns in the last register.
template <int kRows, int kColumns>
struct TileGroup {
  static constexpr int kSums = kRows * kColumns;
  static constexpr int kRight = 7;
  static_assert(kSums + kRows <= kRight);

  template <int kIndex = 0>
  static void start(bool first, const float* sums, long column_floats) {
    if constexpr (kIndex < kSums) {
      if (first) {
        tile_zero<kIndex>();
      } else {
        tile_load<kIndex>(sums + (kIndex / kRows) * column_floats + (kIndex % kRows) * kTileFloats, 64);
      }
      start<kIndex + 1>(first, sums, column_floats);
    }
  }
  template <int kIndex = 0>
  static void finish(float* sums, long column_floats) {
    if constexpr (kIndex < kSums) {
      tile_store<kIndex>(sums + (kIndex / kRows) * column_floats + (kIndex % kRows) * kTileFloats, 64);
      finish<kIndex + 1>(sums, column_floats);
    }
  }
  template <int kRow = 0>
  static void load_left(const char* left) {
    if constexpr (kRow < kRows) {
      tile_load<kSums + kRow>(left + kRow * kTileBytes, 64);
      load_left<kRow + 1>(left);
    }
  }
  // One column: its right tile times every left one.
  template <int kColumn, int kRow = 0>
  static void multiply() {
    if constexpr (kRow < kRows) {
      tile_multiply<kColumn * kRows + kRow, kSums + kRow, kRight>();
      multiply<kColumn, kRow + 1>();
    }
  }
  template <int kColumn = 0>
  static void columns(const char* right, const std::int32_t* offset, long stride) {
    if constexpr (kColumn < kColumns) {
      tile_load<kRight>(right + offset[kColumn], stride);
      multiply<kColumn>();
      columns<kColumn + 1>(right, offset, stride);
    }
  }

  // Rows of tiles from `row`, columns from `column`.
  static void run(const WeightGradientShape& shape, int images, const char* left, const char* right,
                  bool first, int row, int column, float* sums) {
    const long column_floats = static_cast<long>(shape.row_tiles) * kTileFloats;
    const long chunk_bytes = static_cast<long>(shape.row_tiles) * kTileBytes;
    float* block = sums + column * column_floats + row * kTileFloats;
    start(first, block, column_floats);
    for (int image = 0; image < images; ++image) {
      const char* l = left + image * shape.left_stride + row * kTileBytes;
      const char* r = right + image * shape.right_stride;
      for (int c = 0; c < shape.chunks; ++c, l += chunk_bytes) {
        load_left(l);
        columns(r + shape.chunk_offset[c], shape.column_offset + column, shape.row_stride);
      }
    }
    finish(block, column_floats);
  }
};

// All columns: kColumns at a time, then the rest with kColumns - 1 at a time, and so on.
template <int kRows, int kColumns>
void sweep(const WeightGradientShape& shape, int images, const char* left, const char* right, bool first,
           int row, int column, float* sums) {
  for (; column + kColumns <= shape.columns; column += kColumns) {
    TileGroup<kRows, kColumns>::run(shape, images, left, right, first, row, column, sums);
  }
  if constexpr (kColumns > 1) {
    sweep<kRows, kColumns - 1>(shape, images, left, right, first, row, column, sums);
  }
}

}  // namespace

void weight_gradient(const WeightGradientShape& shape, int images, const void* left, const void* right,
                     bool first, float* sums) {
  fence();
  const char* l = static_cast<const char*>(left);
  const char* r = static_cast<const char*>(right);
  if (shape.row_tiles == 1) sweep<1, 5>(shape, images, l, r, first, 0, 0, sums);
  for (int row = 0; row + 2 <= shape.row_tiles; row += 2)
    sweep<2, 2>(shape, images, l, r, first, row, 0, sums);
}

}  // namespace longtail::nn::amx
