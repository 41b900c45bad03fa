// Batch norm forward and backward, flat over pixels, and the epilogues that turn a strip of sums into bf16.
#include "longtail/nn/amx/kernels.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {
namespace {

// The sixteen-channel groups of a pixel, with their coefficients in registers.
template <int kGroups>
struct Coefficients {
  __m512 v[kGroups];
  explicit Coefficients(const float* p) {
    for (int g = 0; g < kGroups; ++g) v[g] = _mm512_loadu_ps(p + 16 * g);
  }
};

template <int kGroups, class Body>
inline void each_vector(int pixels, const Body& body) {
  for (int p = 0; p < pixels; ++p) {
    for (int g = 0; g < kGroups; ++g) body(g, (static_cast<long>(p) * kGroups + g) * 16);
  }
}

// Calls body(groups as a constant) for 16, 32 or 64 channels.
template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};
template <class Body>
inline void with_groups(int channels, const Body& body) {
  if (channels == 16) body(Constant<1>());
  if (channels == 32) body(Constant<2>());
  if (channels == 64) body(Constant<4>());
}

inline __m512 relu(__m512 v) { return _mm512_max_ps(v, _mm512_setzero_ps()); }

// What a fill writes: only the grid, or also the image in its own order.
enum class Keep { kGrid, kGridAndImage };
enum class Precision { kBf16, kTwoParts };

// One vector of the values that a form describes.
template <GridSource::Form kForm, Precision kPrecision>
[[gnu::always_inline]] inline __m512 value(const GridSource& s, long i, __m512 main_scale, __m512 main_shift,
                                           __m512 side_scale, __m512 side_shift) {
  const auto load = [i](const Bf16* high, const LowBits* low) {
    return kPrecision == Precision::kTwoParts ? load_parts(high + i, low + i) : load_bf16(high + i);
  };
  const __m512 main = load(s.main, s.main_low);
  if constexpr (kForm == GridSource::kNorm) return relu(_mm512_fmadd_ps(main, main_scale, main_shift));
  if constexpr (kForm == GridSource::kNormSkip) {
    return relu(_mm512_add_ps(_mm512_fmadd_ps(main, main_scale, main_shift), load(s.side, s.side_low)));
  }
  if constexpr (kForm == GridSource::kNormNorm) {
    return relu(_mm512_add_ps(_mm512_fmadd_ps(main, main_scale, main_shift),
                              _mm512_fmadd_ps(load(s.side, s.side_low), side_scale, side_shift)));
  }
  if constexpr (kForm == GridSource::kBackward) {
    return _mm512_fmadd_ps(main, main_scale,
                           _mm512_fmadd_ps(load(s.side, s.side_low), side_scale, main_shift));
  }
  return main;
}

// Lines of the image are prefetched this many elements before they are written: stores complete in order, so
// each would wait for its line.
constexpr long kWriteAhead = 512;

// Stores one vector to the grid and, if it is kept, to the image, which has the order of the main image.
template <Keep kKeep, Precision kPrecision>
[[gnu::always_inline]] inline void store(const GridSource& s, __m512 v, long from, long to) {
  if constexpr (kPrecision == Precision::kTwoParts) {
    const Parts parts = split(v);
    store_bf16(s.grid_low + to, _mm512_sub_ps(v, parts.rounded));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(s.grid + to), high_part(parts));
    if constexpr (kKeep == Keep::kGridAndImage) {
      __builtin_prefetch(s.image + from + kWriteAhead);
      __builtin_prefetch(s.image_low + from + kWriteAhead);
      store_parts(s.image + from, s.image_low + from, parts);
    }
  } else {
    const __m256i rounded = (__m256i)_mm512_cvtneps_pbh(v);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(s.grid + to), rounded);
    if constexpr (kKeep == Keep::kGridAndImage) {
      __builtin_prefetch(s.image + from + kWriteAhead);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(s.image + from), rounded);
    }
  }
}

// The coefficients of a source in registers.
template <int kGroups, GridSource::Form kForm, Keep kKeep, Precision kPrecision>
struct Filler {
  const GridSource& s;
  __m512 main_scale[kGroups], main_shift[kGroups], side_scale[kGroups], side_shift[kGroups];

  [[gnu::always_inline]] explicit Filler(const GridSource& source) : s(source) {
    for (int g = 0; g < kGroups; ++g) {
      const __m512 zero = _mm512_setzero_ps();
      main_scale[g] = kForm == GridSource::kCopy ? zero : _mm512_loadu_ps(s.main_scale + 16 * g);
      main_shift[g] = kForm == GridSource::kCopy ? zero : _mm512_loadu_ps(s.main_shift + 16 * g);
      side_scale[g] = kForm < GridSource::kNormNorm ? zero : _mm512_loadu_ps(s.side_scale + 16 * g);
      side_shift[g] = kForm != GridSource::kNormNorm ? zero : _mm512_loadu_ps(s.side_shift + 16 * g);
    }
  }

  // From element `from` of the sources to element `to` of the grid, channels 16 g to 16 g + 15.
  [[gnu::always_inline]] void vector(int g, long from, long to) const {
    if constexpr (kForm == GridSource::kCopy) {
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s.main + from));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(s.grid + to), v);
    } else {
      store<kKeep, kPrecision>(
          s, value<kForm, kPrecision>(s, from, main_scale[g], main_shift[g], side_scale[g], side_shift[g]),
          from, to);
    }
  }
};

template <int kGroups, GridSource::Form kForm, Keep kKeep, Precision kPrecision>
void fill(const GridSource& s, int first_run, int last_run) {
  constexpr long kPixel = kGroups * 16;
  Filler<kGroups, kForm, kKeep, kPrecision> filler(s);
  for (int k = first_run; k < last_run; ++k) {
    const PixelRun run = s.runs[k];
    long from = run.src * kPixel, to = run.dst * kPixel;
    for (int i = 0; i < run.count; ++i, from += run.src_step * kPixel, to += run.dst_step * kPixel) {
      for (int g = 0; g < kGroups; ++g) filler.vector(g, from + 16 * g, to + 16 * g);
    }
  }
}

template <int kGroups, Precision kPrecision>
void fill_form(const GridSource& source, int first_run, int last_run) {
  const bool image = source.image != nullptr;
  switch (source.form) {
    case GridSource::kCopy:
      return fill<kGroups, GridSource::kCopy, Keep::kGrid, Precision::kBf16>(source, first_run, last_run);
    case GridSource::kNorm:
      return image ? fill<kGroups, GridSource::kNorm, Keep::kGridAndImage, kPrecision>(source, first_run,
                                                                                       last_run)
                   : fill<kGroups, GridSource::kNorm, Keep::kGrid, kPrecision>(source, first_run, last_run);
    case GridSource::kNormSkip:
      return fill<kGroups, GridSource::kNormSkip, Keep::kGridAndImage, kPrecision>(source, first_run,
                                                                                   last_run);
    case GridSource::kNormNorm:
      return fill<kGroups, GridSource::kNormNorm, Keep::kGridAndImage, kPrecision>(source, first_run,
                                                                                   last_run);
    case GridSource::kBackward:
      return fill<kGroups, GridSource::kBackward, Keep::kGrid, Precision::kBf16>(source, first_run, last_run);
  }
}

}  // namespace

void fill_grid(const GridSource& source, int first_run, int last_run) {
  with_groups(source.channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    source.grid_low == nullptr ? fill_form<kGroups, Precision::kBf16>(source, first_run, last_run)
                               : fill_form<kGroups, Precision::kTwoParts>(source, first_run, last_run);
  });
}

void store_statistics(int channels, const float* sums, Bf16* z, LowBits* low, double* sum, double* square) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    __m512 s[kGroups], q[kGroups];
    for (int g = 0; g < kGroups; ++g) s[g] = q[g] = _mm512_setzero_ps();
    each_vector<kGroups>(kStripPixels, [&](int g, long i) {
      const __m512 v = _mm512_loadu_ps(sums + i);
      if (low == nullptr) {
        store_bf16(z + i, v);
      } else {
        store_parts(z + i, low + i, split(v));
      }
      s[g] = _mm512_add_ps(s[g], v);
      q[g] = _mm512_fmadd_ps(v, v, q[g]);
    });
    for (int g = 0; g < kGroups; ++g) {
      add_to_doubles(sum + 16 * g, s[g]);
      add_to_doubles(square + 16 * g, q[g]);
    }
  });
}

void store_activation(int channels, const float* sums, const float* bias, bool rectify, Bf16* out) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const Coefficients<kGroups> b(bias);
    const __m512 floor = _mm512_set1_ps(rectify ? 0.0f : -__builtin_inff());
    each_vector<kGroups>(kStripPixels, [&](int g, long i) {
      store_bf16(out + i, _mm512_max_ps(_mm512_add_ps(_mm512_loadu_ps(sums + i), b.v[g]), floor));
    });
  });
}

namespace {

template <int kGroups, GradientForm kForm>
void gradient_rows(const float* sums, const RowRun* runs, int run_count, const GradientEpilogue& e) {
  __m512 sum[kGroups], product[kGroups], product2[kGroups];
  for (int g = 0; g < kGroups; ++g) sum[g] = product[g] = product2[g] = _mm512_setzero_ps();
  for (int r = 0; r < run_count; ++r) {
    const float* in = sums + static_cast<long>(runs[r].row) * kGroups * 16;
    const long base = static_cast<long>(runs[r].pixel) * kGroups * 16;
    each_vector<kGroups>(runs[r].count, [&](int g, long i) {
      __m512 v = _mm512_loadu_ps(in + i);
      if constexpr (kForm.skip) v = _mm512_add_ps(v, load_bf16(e.skip + base + i));
      const __m512 z = load_bf16(e.first.z + base + i);
      __mmask16 positive;
      if constexpr (kForm.mask) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(e.mask + base + i));
        positive = _mm256_cmpgt_epi16_mask(x, _mm256_setzero_si256());
      } else {
        const __m512 y =
            _mm512_fmadd_ps(z, _mm512_loadu_ps(e.scale + 16 * g), _mm512_loadu_ps(e.shift + 16 * g));
        positive = _mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_GT_OQ);
      }
      v = _mm512_maskz_mov_ps(positive, v);
      store_bf16(e.d + base + i, v);
      sum[g] = _mm512_add_ps(sum[g], v);
      product[g] = _mm512_fmadd_ps(v, _mm512_sub_ps(z, _mm512_loadu_ps(e.first.mean + 16 * g)), product[g]);
      if constexpr (kForm.second) {
        const __m512 z2 = load_bf16(e.second.z + base + i);
        product2[g] =
            _mm512_fmadd_ps(v, _mm512_sub_ps(z2, _mm512_loadu_ps(e.second.mean + 16 * g)), product2[g]);
      }
    });
  }
  for (int g = 0; g < kGroups; ++g) {
    add_to_doubles(e.first.sum + 16 * g, sum[g]);
    add_to_doubles(e.first.product + 16 * g, product[g]);
    if constexpr (kForm.second) {
      add_to_doubles(e.second.sum + 16 * g, sum[g]);
      add_to_doubles(e.second.product + 16 * g, product2[g]);
    }
  }
}

}  // namespace

void store_gradient(int channels, const float* sums, const RowRun* runs, int run_count,
                    const GradientEpilogue& e) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const bool skip = e.skip != nullptr, mask = e.mask != nullptr, second = e.second.z != nullptr;
    if (!mask) {
      gradient_rows<kGroups, GradientForm{}>(sums, runs, run_count, e);
    } else if (second) {
      if (skip) {
        gradient_rows<kGroups, GradientForm{.skip = true, .mask = true, .second = true}>(sums, runs,
                                                                                         run_count, e);
      } else {
        gradient_rows<kGroups, GradientForm{.mask = true, .second = true}>(sums, runs, run_count, e);
      }
    } else if (skip) {
      gradient_rows<kGroups, GradientForm{.skip = true, .mask = true}>(sums, runs, run_count, e);
    } else {
      gradient_rows<kGroups, GradientForm{.mask = true}>(sums, runs, run_count, e);
    }
  });
}

}  // namespace longtail::nn::amx
