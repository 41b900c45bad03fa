// Where pixels lie in the operands of the six kinds of convolution of a CIFAR ResNet, as tables that the
// kernels follow: which pixels go where (runs), where a tile starts, how far a tap of the kernel is (offsets
// in bytes).
//
// In memory an image is pixels x channels, row after row; only 8x8 images have rows y and y+4 interleaved,
// pixel (y, x) at ((y % 4) * 8 + x) * 2 + y / 4, so that sixteen consecutive pixels are one tile without a
// gap.
//
// For a convolution the input lies on a grid with a border of zeros, where a tap is an offset (drawn in
// docs/tiles.md):
//   kFirst   32 gathered values per pixel.
//   kSame16  34 x 34 pixels of 16 channels. Pixels 2j and 2j+1 are one chunk of 64 bytes. The chunks of 2j
//            and 2j+2 serve the output pixels 2j and 2j+1, which differ only in where the zeros of their
//            weights are.
//   kDown16  the same grid; two taps make one chunk.
//   kSame32  18 x 18 pixels of 32 channels.
//   kDown32  [9 rows][even | odd columns][9][row, row + 8], so that a tile's rows stay evenly spaced at
//            stride 2.
//   kSame64  [6 rows][10 columns][row, row + 4].
// For the weight gradient the input is interleaved in pairs of pixels half an image apart (rows y and y + 16,
// 8 or 4), so that a tap is again an offset that keeps pairs together; the output's gradient is channel-major
// in the same order.
#pragma once

#include <cstdint>
#include <vector>

#include "longtail/nn/amx/kernels.h"

namespace longtail::nn::amx {

// Where pixel (y, x) of an 8x8 image lies.
constexpr int interleaved8(int y, int x) { return ((y % 4) * 8 + x) * 2 + y / 4; }

enum class ConvKind { kFirst, kSame16, kDown16, kSame32, kDown32, kSame64 };
constexpr int kKinds = 6;

// A padded grid that an image is copied to.
struct Grid {
  std::vector<PixelRun> runs;
  std::vector<std::int32_t> run_end;  // Same kinds: the runs that the first strips need; one per strip
  int positions = 0;                  // with slack for reads past the end
};
// Pairs of pixels of a padded grid.
struct PairGrid {
  std::vector<PairRun> runs;
  int positions = 0;
  PairLayout layout() const { return {runs.data(), static_cast<int>(runs.size()), positions}; }
};
// The order of pixels in the channel-major operand, as positions on the grid of the Same kind: sixteen pairs
// per chunk.
struct PixelOrder {
  std::vector<std::int32_t> first;
  int pair_distance = 0;
  int chunks() const { return static_cast<int>(first.size() / 16); }
};

struct Geometry {
  ConvKind kind;
  int in_channels, out_channels;
  int in_pixels, out_pixels;  // of the image

  Grid grid;  // of the input
  std::vector<std::int32_t> chunk_offset;
  std::ptrdiff_t row_stride;
  std::vector<std::int32_t> tile_offset;  // kFirst and Down kinds: one for every 16 output pixels
  std::ptrdiff_t row_pitch = 0;           // Same kinds: from one row of the grid to the next
  int outputs = 0;                        // Same kinds: tiles of sums per row, see ImageConv; else 0

  PairGrid pairs;                        // of the input
  std::vector<std::int32_t> pair_chunk;  // offset of a chunk of 32 output pixels
  // Offset of [16 input channels][tap]: taps of the same channels follow each other, to find them in cache.
  std::vector<std::int32_t> pair_column;
  std::vector<std::int32_t> middle_column;  // of the middle tap: [16 input channels]
  std::ptrdiff_t pair_stride;
  PixelOrder order;  // of the output

  bool same() const { return outputs > 0; }
  int strips() const { return out_pixels / kStripPixels; }                                // not Same kinds
  int row_strips() const { return out_pixels / (kind == ConvKind::kSame16 ? 128 : 64); }  // Same kinds
};

// in_channels matters only for kFirst (1 or 3).
Geometry make_geometry(ConvKind kind, int input_channels = 3);

// Chunk offset of the middle tap, which the 1x1 convolution of stride 2 next to kDown16 and kDown32 reads.
std::int32_t middle_chunk(const Geometry& geometry);

// A convolution of a Same kind over a grid that is filled from a source, with packed weights.
ImageConv image_conv(const Geometry& geometry, const GridSource& source, const Bf16* weights);

// The data gradient of a kDown convolution and of the 1x1 convolution next to it. Their output gradients lie
// on two grids of the next Same kind, `second_grid` bytes apart.
struct UpGeometry {
  std::vector<std::int32_t> operand_offset;
  std::vector<std::int32_t> weight_tile;
  std::int32_t first_entry[5];
  std::vector<std::int32_t> tile_offset;      // one per strip
  std::vector<std::vector<RowRun>> row_runs;  // of a strip
};
UpGeometry make_up_geometry(ConvKind kind, bool projection, std::int32_t second_grid);

// ---- weights: for every element of a packed array, its index in the convolution's weights (out, in, 3, 3 or
// 1, 1), or -1 for zero ----

// Forward tiles: [output][chunk][kernel row] of a Same kind, else [output tile][chunk].
std::vector<std::int32_t> forward_index(const Geometry& geometry, int kernel);
// Tiles of the data gradient of a Same kind, [output][chunk][kernel row].
std::vector<std::int32_t> backward_index(const Geometry& geometry);
// Tiles of the data gradient of a Down kind, [input tile][tap][half]. A 1x1 kernel has one tap.
std::vector<std::int32_t> up_index(const Geometry& geometry, int kernel);
// For every weight its place in the sums of the weight gradient, which are
// [input tile][tap][output tile][16 out][16 in].
std::vector<std::int32_t> gradient_index(const Geometry& geometry, int kernel);

}  // namespace longtail::nn::amx
