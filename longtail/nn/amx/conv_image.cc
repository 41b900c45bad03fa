// The 3x3 convolutions of stride 1, forward and data gradient, with their epilogues run in the shadow of the
// tiles.
//
// For each chunk of 32 input values three tiles of weights, one a row of the kernel, stay in registers while
// six rows of the grid pass by; a row of the grid is loaded once for up to three rows of output: nine loads
// for twelve multiplies.
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

// The twelve multiplies of a chunk; step(i) comes after the i-th.
template <class Step>
[[gnu::always_inline]] inline void multiply_chunk(const char* a, long pitch, long stride, const Bf16* weights,
                                                  const Step& step) {
  tile_load<5>(weights, 64);
  tile_load<4>(a, stride);
  tile_multiply<0, 4, 5>();
  step(Constant<0>());
  tile_load<6>(weights + kTileElements, 64);
  tile_load<4>(a + pitch, stride);
  tile_multiply<1, 4, 5>();
  step(Constant<1>());
  tile_multiply<0, 4, 6>();
  step(Constant<2>());
  tile_load<7>(weights + 2 * kTileElements, 64);
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

// A unit whose sums are known and wait for their epilogue.
struct Unit {
  const float* sums = nullptr;
  long element = 0;  // of the image, where its first vector goes
  int group = 0;
};

// Fetches lines [kFrom, kTo) of a unit of every array.
template <int kFrom, int kTo>
[[gnu::always_inline]] inline void fetch(const Ahead& ahead, long unit) {
  if constexpr (kFrom < kTo) {
    for (int i = 0; i < ahead.count; ++i) {
      const char* lines = static_cast<const char*>(ahead.array[i]) + unit * kUnitLines * 64;
      for (int line = kFrom; line < kTo; ++line) __builtin_prefetch(lines + line * 64, 0, 2);
    }
  }
}

// Multiplies one unit and meanwhile finishes the one before it, a few vectors after every multiply: the CPU
// looks too few tile instructions ahead to do that by itself.
template <int kChunks, int kOutputs, bool kFinish, class Epilogue>
[[gnu::always_inline]] inline void unit(const ImageConv& conv, int count, const char* rows,
                                        const Bf16* weights, const Unit& done, Epilogue& epilogue) {
  tile_zero<0>();
  tile_zero<1>();
  tile_zero<2>();
  tile_zero<3>();
  if constexpr (kFinish) epilogue.begin(done.group);
  unroll<0, kChunks>([&](auto chunk) {
    constexpr int kChunk = decltype(chunk)::value;
    multiply_chunk(rows + conv.chunk_offset[kChunk], conv.row_pitch, conv.row_stride,
                   weights + kChunk * 3 * kTileElements, [&](auto i) {
                     constexpr int kStep = kChunk * 12 + decltype(i)::value, kSteps = kChunks * 12;
                     fetch<kUnitLines * kStep / kSteps, kUnitLines*(kStep + 1) / kSteps>(conv.ahead, count);
                     if constexpr (kFinish) {
                       unroll<kUnit * kStep / kSteps, kUnit*(kStep + 1) / kSteps>([&](auto j) {
                         constexpr int kVector = decltype(j)::value;
                         epilogue.vector(done.sums + kVector * 16, done.element + kVector * kOutputs * 16);
                       });
                     }
                   });
  });
  if constexpr (kFinish) epilogue.end(done.group);
}

// Epilogue::begin(group), vector(sums, element), end(group). The first vector of a unit of strip s and output
// o is element (64 s outputs + o) * 16 of the image, the next ones outputs * 16 apart.
template <int kChunks, int kOutputs, class Epilogue>
void convolve(const ImageConv& conv, Epilogue epilogue) {
  alignas(64) float sums[2][kUnit * 16];
  Unit done;
  int count = 0;
  for (int strip = 0; strip < conv.strips; ++strip) {
    fill_grid(conv.source, strip == 0 ? 0 : conv.run_end[strip - 1], conv.run_end[strip]);
    fence();
    const char* rows = reinterpret_cast<const char*>(conv.source.grid) + strip * 4 * conv.row_pitch;
    for (int output = 0; output < kOutputs; ++output, ++count) {
      const Bf16* weights = conv.weights + output * kChunks * 3 * kTileElements;
      if (count == 0) {
        unit<kChunks, kOutputs, false>(conv, count, rows, weights, done, epilogue);
      } else {
        unit<kChunks, kOutputs, true>(conv, count, rows, weights, done, epilogue);
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

// The three shapes there are.
template <class Epilogue>
void convolve(const ImageConv& conv, const Epilogue& epilogue) {
  if (conv.chunks == 2) convolve<2, 2>(conv, epilogue);
  if (conv.chunks == 3) convolve<3, 2>(conv, epilogue);
  if (conv.chunks == 6) convolve<6, 4>(conv, epilogue);
}

struct Statistics {
  Bf16* z;
  double* total;
  double* total_square;
  __m512 sum, square;

  [[gnu::always_inline]] void begin(int) { sum = square = _mm512_setzero_ps(); }
  [[gnu::always_inline]] void vector(const float* sums, long element) {
    const __m512 v = _mm512_load_ps(sums);
    store_bf16(z + element, v);
    sum = _mm512_add_ps(sum, v);
    square = _mm512_fmadd_ps(v, v, square);
  }
  [[gnu::always_inline]] void end(int group) {
    add_to_doubles(total + 16 * group, sum);
    add_to_doubles(total_square + 16 * group, square);
  }
};

template <bool kSkip>
struct Activation {
  const float* bias;
  const Bf16* skip;
  Bf16* out;
  __m512 shift;

  [[gnu::always_inline]] void begin(int group) { shift = _mm512_loadu_ps(bias + 16 * group); }
  [[gnu::always_inline]] void vector(const float* sums, long element) {
    __m512 v = _mm512_add_ps(_mm512_load_ps(sums), shift);
    if constexpr (kSkip) v = _mm512_add_ps(v, load_bf16(skip + element));
    store_bf16(out + element, _mm512_max_ps(v, _mm512_setzero_ps()));
  }
  [[gnu::always_inline]] void end(int) {}
};

template <bool kSkip, bool kMask, bool kSecond>
struct Gradient {
  const GradientEpilogue& e;
  __m512 scale, shift, mean, mean2, sum, product, product2;

  [[gnu::always_inline]] void begin(int group) {
    if constexpr (!kMask) {
      scale = _mm512_loadu_ps(e.scale + 16 * group);
      shift = _mm512_loadu_ps(e.shift + 16 * group);
    }
    mean = _mm512_loadu_ps(e.first.mean + 16 * group);
    if constexpr (kSecond) mean2 = _mm512_loadu_ps(e.second.mean + 16 * group);
    sum = product = product2 = _mm512_setzero_ps();
  }
  [[gnu::always_inline]] void vector(const float* sums, long element) {
    __m512 v = _mm512_load_ps(sums);
    if constexpr (kSkip) v = _mm512_add_ps(v, load_bf16(e.skip + element));
    const __m512 z = load_bf16(e.first.z + element);
    __mmask16 positive;
    if constexpr (kMask) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(e.mask + element));
      positive = _mm256_cmpgt_epi16_mask(x, _mm256_setzero_si256());
    } else {
      positive = _mm512_cmp_ps_mask(_mm512_fmadd_ps(z, scale, shift), _mm512_setzero_ps(), _CMP_GT_OQ);
    }
    v = _mm512_maskz_mov_ps(positive, v);
    store_bf16(e.d + element, v);
    sum = _mm512_add_ps(sum, v);
    product = _mm512_fmadd_ps(v, _mm512_sub_ps(z, mean), product);
    if constexpr (kSecond) {
      product2 = _mm512_fmadd_ps(v, _mm512_sub_ps(load_bf16(e.second.z + element), mean2), product2);
    }
  }
  [[gnu::always_inline]] void end(int group) {
    add_to_doubles(e.first.sum + 16 * group, sum);
    add_to_doubles(e.first.product + 16 * group, product);
    if constexpr (kSecond) {
      add_to_doubles(e.second.sum + 16 * group, sum);
      add_to_doubles(e.second.product + 16 * group, product2);
    }
  }
};

template <bool kSkip, bool kMask, bool kSecond>
void gradient(const ImageConv& conv, const GradientEpilogue& e) {
  convolve(conv, Gradient<kSkip, kMask, kSecond>{e, {}, {}, {}, {}, {}, {}, {}});
}

}  // namespace

void conv_statistics(const ImageConv& conv, Bf16* z, double* sum, double* square) {
  convolve(conv, Statistics{z, sum, square, {}, {}});
}

void conv_activation(const ImageConv& conv, const float* bias, const Bf16* skip, Bf16* out) {
  if (skip == nullptr) {
    convolve(conv, Activation<false>{bias, skip, out, {}});
  } else {
    convolve(conv, Activation<true>{bias, skip, out, {}});
  }
}

void conv_gradient(const ImageConv& conv, const GradientEpilogue& e) {
  const bool skip = e.skip != nullptr, second = e.second.z != nullptr;
  if (e.mask == nullptr) {
    gradient<false, false, false>(conv, e);
  } else if (skip) {
    second ? gradient<true, true, true>(conv, e) : gradient<true, true, false>(conv, e);
  } else {
    second ? gradient<false, true, true>(conv, e) : gradient<false, true, false>(conv, e);
  }
}

}  // namespace longtail::nn::amx
