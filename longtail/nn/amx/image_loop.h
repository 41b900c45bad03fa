// The loop over one image that all 3x3 convolutions of stride 1 share, forward and data gradient. Their
// epilogues run while the tiles multiply. For kernel files only.
//
// For each chunk of 32 input values three tiles of weights, one per row of the kernel, stay in registers
// while six rows of the grid pass by; a row of the grid is loaded once for up to three rows of output: nine
// loads for twelve multiplies.
#pragma once

#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/tile.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {
namespace {

constexpr int kUnit = 64;       // vectors of 16 channels
constexpr int kUnitLines = 32;  // of 64 bytes, in bf16

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

// The twelve multiplies of a chunk; step(i) is called after the i-th. Without kLoadWeights the weights of the
// previous chunk are used again.
template <bool kLoadWeights, class Step>
[[gnu::always_inline]] inline void multiply_chunk(const char* a, long pitch, long stride, const Bf16* weights,
                                                  const Step& step) {
  if constexpr (kLoadWeights) tile_load<5>(weights, 64);
  tile_load<4>(a, stride);
  tile_multiply<0, 4, 5>();
  step(Constant<0>());
  if constexpr (kLoadWeights) tile_load<6>(weights + kTileElements, 64);
  tile_load<4>(a + pitch, stride);
  tile_multiply<1, 4, 5>();
  step(Constant<1>());
  tile_multiply<0, 4, 6>();
  step(Constant<2>());
  if constexpr (kLoadWeights) tile_load<7>(weights + 2 * kTileElements, 64);
  tile_load<4>(a + 2 * pitch, stride);
  tile_multiply<2, 4, 5>();
  step(Constant<3>());
  tile_multiply<1, 4, 6>();
  step(Constant<4>());
  tile_multiply<0, 4, 7>();
  step(Constant<5>());
  tile_load<4>(a + 3 * pitch, stride);
  tile_multiply<3, 4, 5>();
  step(Constant<6>());
  tile_multiply<2, 4, 6>();
  step(Constant<7>());
  tile_multiply<1, 4, 7>();
  step(Constant<8>());
  tile_load<4>(a + 4 * pitch, stride);
  tile_multiply<3, 4, 6>();
  step(Constant<9>());
  tile_multiply<2, 4, 7>();
  step(Constant<10>());
  tile_load<4>(a + 5 * pitch, stride);
  tile_multiply<3, 4, 7>();
  step(Constant<11>());
}

// Calls visit(Constant<kFrom>()) .. visit(Constant<kTo - 1>()), unrolled.
template <int kFrom, int kTo, class Visit>
[[gnu::always_inline]] inline void unroll(const Visit& visit) {
  if constexpr (kFrom < kTo) {
    visit(Constant<kFrom>());
    unroll<kFrom + 1, kTo>(visit);
  }
}

// A unit whose sums are complete and wait for their epilogue.
struct Unit {
  const float* sums = nullptr;
  long element = 0;  // of the image, where its first vector goes
  int group = 0;
};

// Prefetches the share of step kStep of kSteps in a unit's cache lines (kLines of every array).
template <int kLines, int kStep, int kSteps>
[[gnu::always_inline]] inline void fetch(const Prefetch& arrays, long unit) {
  constexpr int kFrom = kLines * kStep / kSteps, kTo = kLines * (kStep + 1) / kSteps;
  if constexpr (kFrom < kTo) {
    for (int i = 0; i < arrays.count; ++i) {
      const char* lines = static_cast<const char*>(arrays.array[i]) + unit * kLines * 64;
      for (int line = kFrom; line < kTo; ++line) __builtin_prefetch(lines + line * 64, 0, 2);
    }
  }
}

// Multiplies one unit and meanwhile finishes the previous one, a few vectors after every multiply: the CPU
// looks ahead over too few tile instructions to do that by itself. Operands of two parts are multiplied three
// times: both parts with the weights, then the high part with the weights' low part.
template <int kChunks, int kOutputs, bool kFinish, class Epilogue>
[[gnu::always_inline]] inline void unit(const ImageConv& conv, int count, const char* rows,
                                        const char* low_rows, const Bf16* weights, const Bf16* low_weights,
                                        const Unit& done, Epilogue& epilogue) {
  constexpr int kPasses = Epilogue::kParts ? 3 : 1;
  tile_zero<0>();
  tile_zero<1>();
  tile_zero<2>();
  tile_zero<3>();
  if constexpr (kFinish) epilogue.begin(done.group);
  const auto vector = [&](auto j) __attribute__((always_inline)) {
    constexpr int kVector = decltype(j)::value;
    if constexpr (kFinish) epilogue.vector(done.sums + kVector * 16, done.element + kVector * kOutputs * 16);
  };
  unroll<0, kPasses * kChunks>([&](auto turn) __attribute__((always_inline)) {
    constexpr int kTurn = decltype(turn)::value, kPass = kTurn % kPasses, kChunk = kTurn / kPasses;
    const char* operand = (kPass == 1 ? low_rows : rows) + conv.chunk_offset[kChunk];
    const Bf16* tiles = (kPass == 2 ? low_weights : weights) + kChunk * 3 * kTileElements;
    multiply_chunk<kPass != 1>(
        operand, conv.row_pitch, conv.row_stride, tiles, [&](auto i) __attribute__((always_inline)) {
          constexpr int kStep = kTurn * 12 + decltype(i)::value, kSteps = kPasses * kChunks * 12;
          fetch<kUnitLines, kStep, kSteps>(conv.prefetch, count);
          if constexpr (Epilogue::kParts) fetch<kUnitLines / 2, kStep, kSteps>(conv.prefetch_low, count);
          unroll<kUnit * kStep / kSteps, kUnit*(kStep + 1) / kSteps>(vector);
        });
  });
  if constexpr (kFinish) epilogue.end(done.group);
}

// An Epilogue has kParts, begin(group), vector(sums, element) and end(group). The first vector of a unit of
// strip s and output o is element (64 s outputs + o) * 16 of the image, the next ones are outputs * 16 apart.
template <int kChunks, int kOutputs, class Epilogue>
void convolve(const ImageConv& conv, Epilogue epilogue) {
  alignas(64) float sums[2][kUnit * 16];
  Unit done;
  int count = 0;
  for (int strip = 0; strip < conv.strips; ++strip) {
    fill_grid(conv.source, strip == 0 ? 0 : conv.run_end[strip - 1], conv.run_end[strip]);
    fence();
    const char* rows = reinterpret_cast<const char*>(conv.source.grid) + strip * 4 * conv.row_pitch;
    const char* low_rows = nullptr;
    if constexpr (Epilogue::kParts) {
      low_rows = reinterpret_cast<const char*>(conv.source.grid_low) + strip * 4 * conv.row_pitch;
    }
    for (int output = 0; output < kOutputs; ++output, ++count) {
      const Bf16* weights = conv.weights + output * kChunks * 3 * kTileElements;
      const Bf16* low_weights = nullptr;
      if constexpr (Epilogue::kParts) low_weights = conv.low_weights + output * kChunks * 3 * kTileElements;
      if (count == 0) {
        unit<kChunks, kOutputs, false>(conv, count, rows, low_rows, weights, low_weights, done, epilogue);
      } else {
        unit<kChunks, kOutputs, true>(conv, count, rows, low_rows, weights, low_weights, done, epilogue);
      }
      float* out = sums[count % 2];
      tile_store<0>(out, 64);
      tile_store<1>(out + kTileFloats, 64);
      tile_store<2>(out + 2 * kTileFloats, 64);
      tile_store<3>(out + 3 * kTileFloats, 64);
      done = {out, (static_cast<long>(strip) * kUnit * kOutputs + output) * 16,
              conv.groups == 1 ? 0 : output};
    }
  }
  epilogue.begin(done.group);
  for (int j = 0; j < kUnit; ++j) epilogue.vector(done.sums + j * 16, done.element + j * kOutputs * 16);
  epilogue.end(done.group);
}

// The only three shapes.
template <class Epilogue>
void convolve(const ImageConv& conv, const Epilogue& epilogue) {
  if (conv.chunks == 2) convolve<2, 2>(conv, epilogue);
  if (conv.chunks == 3) convolve<3, 2>(conv, epilogue);
  if (conv.chunks == 6) convolve<6, 4>(conv, epilogue);
}

// The epilogue of the forward pass.
template <bool kTwoParts>
struct Statistics {
  static constexpr bool kParts = kTwoParts;
  Bf16* z;
  LowBits* low;
  double* total;
  double* total_square;
  __m512 sum, square;

  [[gnu::always_inline]] void begin(int) { sum = square = _mm512_setzero_ps(); }
  [[gnu::always_inline]] void vector(const float* sums, long element) {
    const __m512 v = _mm512_load_ps(sums);
    if constexpr (kParts) {
      store_parts(z + element, low + element, split(v));
    } else {
      store_bf16(z + element, v);
    }
    sum = _mm512_add_ps(sum, v);
    square = _mm512_fmadd_ps(v, v, square);
  }
  [[gnu::always_inline]] void end(int group) {
    add_to_doubles(total + 16 * group, sum);
    add_to_doubles(total_square + 16 * group, square);
  }
};

}  // namespace
}  // namespace longtail::nn::amx
