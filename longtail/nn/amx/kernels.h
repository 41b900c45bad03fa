// The kernels of the amx engine: loops over one image (or one strip of 64 output pixels) in tiles and
// AVX-512. Only their sources are compiled for those instructions, so they and this header use nothing of the
// standard library that could leave a compiled copy for other files to use. All activations are bf16, pixels
// first, channels last.
//
// Every kernel has a scalar twin in convolution_test.cc, vector_kernels_test.cc or parts_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longtail::nn::amx {

using Bf16 = std::uint16_t;
// The next eight bits of an activation, after those of its bf16 (see split in vector.h); for zero they are
// kZeroLow. Where a kernel takes a pointer to them, null means that there are none: bf16 alone.
using LowBits = std::uint8_t;
constexpr LowBits kZeroLow = 128;

constexpr int kStripPixels = 64;  // of a convolution's output: four tiles of 16
constexpr int kTileBytes = 1024;
constexpr int kTileElements = 512;  // bf16 in an operand tile
constexpr int kTileFloats = 256;    // floats in a tile of sums

// Configures the tiles of the calling thread; the destructor releases them. Every tile kernel must run within
// the lifetime of one.
class TileScope {
 public:
  TileScope();
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

// ---- batch norm, on the way to the grid of a convolution ----

// Moves pixels: dst + (dst_step i) <- src + (src_step i), in units of pixels.
struct PixelRun {
  std::int32_t src;
  std::int32_t src_step;
  std::int32_t dst;
  std::int32_t dst_step;
  std::int32_t count;
};

// Where the values of a grid come from: a function of one or two images, with one coefficient per channel.
struct GridSource {
  enum Form {
    kCopy,      // main
    kNorm,      // relu(main * main_scale + main_shift)
    kNormSkip,  // relu(main * main_scale + main_shift + side)
    kNormNorm,  // relu(main * main_scale + main_shift + side * side_scale + side_shift)
    kBackward,  // main * main_scale + side * side_scale + main_shift: batch norm backward
  };
  Form form;
  int channels;  // 16, 32 or 64
  const Bf16* main;
  const Bf16* side;
  const float* main_scale;
  const float* main_shift;
  const float* side_scale;
  const float* side_shift;
  Bf16* image;  // gets the values in the order of main; may be null
  Bf16* grid;
  const PixelRun* runs;
  // For finer values: the low bits of main, side and image, and the remainder of the grid's bf16 values,
  // itself in bf16. All or none of them; not with kCopy and kBackward.
  const LowBits* main_low = nullptr;
  const LowBits* side_low = nullptr;
  LowBits* image_low = nullptr;
  Bf16* grid_low = nullptr;
};
void fill_grid(const GridSource& source, int first_run, int last_run);

// ---- convolution ----

// Arrays of the next image, as large as the image. They are prefetched, about one line after every multiply:
// a step streams more data than any cache holds, and this way the time of the memory and the time of the
// tiles overlap instead of adding up. Lines that will be written are prefetched too.
struct Prefetch {
  static constexpr int kMost = 6;
  const void* array[kMost];
  int count = 0;
};

// A 3x3 convolution of stride 1 over one image, for the functions below. Its sums come in units of 64 pixels
// x 16 channels: four tiles, each a row of 16 pixels (or of 16 even or odd ones of a row of 32), over six
// rows of the grid. While a unit multiplies, the vector units finish the previous one.
struct ImageConv {
  GridSource source;                 // filled in a strip ahead of the multiplies
  const std::int32_t* run_end;       // the runs that a strip and those before it need
  const Bf16* weights;               // tiles [output][chunk][kernel row]
  const std::int32_t* chunk_offset;  // bytes from the start of a row's window
  int chunks;
  int outputs;                // tiles of 16 channels, or of even and odd pixels
  int groups;                 // of 16 channels: outputs, or 1
  int strips;                 // of four rows
  std::ptrdiff_t row_stride;  // from one pixel of a tile to the next
  std::ptrdiff_t row_pitch;   // from one row of the grid to the next
  Prefetch prefetch = {};

  // Operands of twice the bits, each the sum of two bf16 numbers: grid x weights + low grid x weights + grid
  // x low weights.
  const Bf16* low_weights = nullptr;
  Prefetch prefetch_low = {};  // arrays of LowBits
};

// z = sums; adds their sums and sums of squares to the doubles of each channel.
void conv_statistics(const ImageConv& conv, Bf16* z, double* sum, double* square);
// The same with operands and z in two parts.
void conv_statistics_parts(const ImageConv& conv, Bf16* z, LowBits* low, double* sum, double* square);
// out = relu(sums + bias [+ skip]); skip may be null.
void conv_activation(const ImageConv& conv, const float* bias, const Bf16* skip, Bf16* out);
// See GradientEpilogue.
struct GradientEpilogue;
void conv_gradient(const ImageConv& conv, const GradientEpilogue& epilogue);

// Any convolution, 64 pixels (four tiles) at a time: sums(64 x 16 n) = operand(64 x 32 chunks) x weights. A
// row of a left tile is 64 bytes at operand + pixel_offset[tile] + chunk_offset[chunk] + row * row_stride.
struct ConvShape {
  const std::int32_t* chunk_offset;
  int chunks;
  int column_tiles;  // output channels / 16
  std::ptrdiff_t row_stride;
  std::ptrdiff_t low_operand = 0;  // bytes from the operand to its low part, if there are low weights
};
// weights: [column tile][chunk] tiles. sums: 64 rows of 16 * column_tiles floats.
void conv_strip(const ConvShape& shape, const void* operand, const std::int32_t* pixel_offset,
                const Bf16* weights, const Bf16* low_weights, float* sums);

// The data gradient of a stride-2 convolution: one tile of 16 pixels (y, x) of the small image makes four
// tiles of the large one, pixels (2y+py, 2x+px), each with the taps that reach it. first_entry[parity] ..
// first_entry[parity + 1] are the entries of parity 2py+px; row r of its tile goes to row 32py + 2r + px of
// the sums.
struct UpShape {
  const std::int32_t* operand_offset;  // of an entry
  const std::int32_t* weight_tile;     // of an entry, in the tiles of one column
  std::int32_t first_entry[5];
  int weight_tiles;  // of one column
  int column_tiles;
  std::ptrdiff_t row_stride;
};
void conv_up_strip(const UpShape& shape, const void* operand, const Bf16* weights, float* sums);

// ---- weight gradient ----

// sums[column][row tile] (16 output channels x 16 input channels each) += sum over chunks of 32 pixels of
// left[chunk][row tile] x right(chunk, column), where the right tile has row r (a pair of pixels, 16
// channels) at right + chunk_offset[chunk] + column_offset[column] + r * row_stride.
struct WeightGradientShape {
  const std::int32_t* chunk_offset;
  int chunks;
  const std::int32_t* column_offset;
  int columns;
  int row_tiles;  // 1, 2 or 4
  std::ptrdiff_t row_stride;
  std::ptrdiff_t left_stride;  // bytes from one image's operands to the next
  std::ptrdiff_t right_stride;
};
// first: the sums start at zero.
void weight_gradient(const WeightGradientShape& shape, int images, const void* left, const void* right,
                     bool first, float* sums);

// ---- epilogues: 64 rows of sums to bf16 ----

// z = sums; adds their sums and sums of squares to the doubles of each channel.
void store_statistics(int channels, const float* sums, Bf16* z, LowBits* low, double* sum, double* square);
// out = sums + bias, rectified where asked.
void store_activation(int channels, const float* sums, const float* bias, bool relu, Bf16* out);

// Rows [row, row + count) of the sums are pixels [pixel, pixel + count) of the image.
struct RowRun {
  std::int32_t row;
  std::int32_t pixel;
  std::int32_t count;
};
// One batch norm whose backward sums a gradient's epilogue takes: adds d to sum and d * (z - mean) to
// product.
struct BackwardSums {
  const Bf16* z;
  const float* mean;
  double* sum;
  double* product;
};
// The gradient that leaves a convolution, through the ReLU of its input: d = (sums [+ skip]) where the input
// was positive, else 0. The input is `mask` itself, or, where `mask` is null, z * scale + shift.
struct GradientEpilogue {
  const Bf16* skip;  // may be null
  const Bf16* mask;
  const float* scale;
  const float* shift;
  const LowBits* low;  // of z, where `mask` is null; may be null
  BackwardSums first;
  BackwardSums second;  // z null: there is none
  Bf16* d;
};
// Which parts of a GradientEpilogue are present, as a template argument: its skip, its mask, its second sums,
// low bits of z.
struct GradientForm {
  bool skip = false, mask = false, second = false, low = false;
};
void store_gradient(int channels, const float* sums, const RowRun* runs, int run_count,
                    const GradientEpilogue& e);

// ---- layouts ----

// Interleaves pairs of pixels: position dst holds [channel][2] of pixels a and b; -1 stands for zeros.
struct PairRun {
  std::int32_t a;
  std::int32_t b;
  std::int32_t src_step;
  std::int32_t dst;
  std::int32_t dst_step;
  std::int32_t count;
};
// Every sixteen channels have `positions` positions of their own, one after the other, so that sixteen
// positions are a tile without gaps.
struct PairLayout {
  const PairRun* runs;
  int count;
  int positions;
};
void interleave_pixels(const PairLayout& pairs, int channels, const Bf16* src, Bf16* dst);
// The same of relu(src * scale + shift); zeros stay zeros.
void interleave_normed(const PairLayout& pairs, int channels, const Bf16* src, const float* scale,
                       const float* shift, Bf16* dst);

// Left operands of the weight gradient: tile [chunk][channels / 16] has 16 channels as rows and 32 pixels, in
// pairs (first[16 chunk + i], the same + pair_distance), as columns.
void transpose_pixels(int chunks, const std::int32_t* first, int pair_distance, int channels, const Bf16* src,
                      Bf16* dst);

// The first layer gathers 3x3 neighbourhoods: 32 values per pixel, (row, column, channel), then zeros. It
// reads an image with a border of zeros, rows kPaddedRow elements apart, one row of slack before the first.
constexpr int kPaddedRow = 34 * 3 + 26;
constexpr int kPaddedInput = 36 * kPaddedRow;
void pad_input(int channels, const Bf16* image, Bf16* padded);
// From floats, channels first, in two parts.
void pad_float_input(int channels, const float* image, Bf16* padded, Bf16* padded_low);
void gather_neighbours(int channels, const Bf16* padded, Bf16* out);

// ---- the end of the network: 64 pixels of 64 channels, in floats ----

void mean_pixels(const Bf16* x, const LowBits* low, float* mean);
// 64 rows of sums, all features * scale.
void fill_strip(const float* features, float scale, float* sums);

// ---- weights ----

// out[i] = bf16(source[index[i]]), 0 where the index is negative; count is a multiple of 16.
void gather_bf16(std::size_t count, const std::int32_t* index, const float* source, Bf16* out);
// The remainder of that: out[i] = bf16(source[index[i]] - bf16(source[index[i]])).
void gather_bf16_low(std::size_t count, const std::int32_t* index, const float* source, Bf16* out);
// out[i] = source[index[i]]; count is a multiple of 16.
void gather_floats(std::size_t count, const std::int32_t* index, const float* source, float* out);

}  // namespace longtail::nn::amx
