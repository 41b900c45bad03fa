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

inline __m512 relu(__m512 v) { return _mm512_max_ps(v, _mm512_setzero_ps()); }

template <int kGroups, class Body>
inline void each_vector(int pixels, const Body& body) {
  for (int p = 0; p < pixels; ++p) {
    for (int g = 0; g < kGroups; ++g) body(g, (static_cast<long>(p) * kGroups + g) * 16);
  }
}

// Calls run(groups as a constant) for 16, 32 or 64 channels.
template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};
template <class Run>
inline void with_groups(int channels, const Run& run) {
  if (channels == 16) run(Constant<1>());
  if (channels == 32) run(Constant<2>());
  if (channels == 64) run(Constant<4>());
}

}  // namespace

void bn_relu(int pixels, int channels, const Bf16* z, const float* scale, const float* shift, Bf16* out) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const Coefficients<kGroups> s(scale), t(shift);
    each_vector<kGroups>(pixels, [&](int g, long i) {
      store_bf16(out + i, relu(_mm512_fmadd_ps(load_bf16(z + i), s.v[g], t.v[g])));
    });
  });
}

void bn_add_relu(int pixels, int channels, const Bf16* z, const float* scale, const float* shift,
                 const Bf16* skip, Bf16* out) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const Coefficients<kGroups> s(scale), t(shift);
    each_vector<kGroups>(pixels, [&](int g, long i) {
      const __m512 y = _mm512_fmadd_ps(load_bf16(z + i), s.v[g], t.v[g]);
      store_bf16(out + i, relu(_mm512_add_ps(y, load_bf16(skip + i))));
    });
  });
}

void bn_add_bn_relu(int pixels, int channels, const Bf16* z, const float* scale, const float* shift,
                    const Bf16* z2, const float* scale2, const float* shift2, Bf16* out) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const Coefficients<kGroups> s(scale), t(shift), s2(scale2), t2(shift2);
    each_vector<kGroups>(pixels, [&](int g, long i) {
      const __m512 y = _mm512_fmadd_ps(load_bf16(z + i), s.v[g], t.v[g]);
      const __m512 y2 = _mm512_fmadd_ps(load_bf16(z2 + i), s2.v[g], t2.v[g]);
      store_bf16(out + i, relu(_mm512_add_ps(y, y2)));
    });
  });
}

void bn_backward(int pixels, int channels, const Bf16* d, const Bf16* z, const float* a, const float* b,
                 const float* c, Bf16* out) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const Coefficients<kGroups> va(a), vb(b), vc(c);
    each_vector<kGroups>(pixels, [&](int g, long i) {
      const __m512 zz = _mm512_fmadd_ps(load_bf16(z + i), vb.v[g], vc.v[g]);
      store_bf16(out + i, _mm512_fmadd_ps(load_bf16(d + i), va.v[g], zz));
    });
  });
}

void store_statistics(int channels, const float* sums, Bf16* z, double* sum, double* square) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    __m512 s[kGroups], q[kGroups];
    for (int g = 0; g < kGroups; ++g) s[g] = q[g] = _mm512_setzero_ps();
    each_vector<kGroups>(kStripPixels, [&](int g, long i) {
      const __m512 v = _mm512_loadu_ps(sums + i);
      store_bf16(z + i, v);
      s[g] = _mm512_add_ps(s[g], v);
      q[g] = _mm512_fmadd_ps(v, v, q[g]);
    });
    for (int g = 0; g < kGroups; ++g) {
      add_to_doubles(sum + 16 * g, s[g]);
      add_to_doubles(square + 16 * g, q[g]);
    }
  });
}

void store_activation(int channels, const float* sums, const float* bias, const Bf16* skip, bool rectify,
                      Bf16* out) {
  with_groups(channels, [&](auto groups) {
    constexpr int kGroups = decltype(groups)::value;
    const Coefficients<kGroups> b(bias);
    const __m512 floor = _mm512_set1_ps(rectify ? 0.0f : -__builtin_inff());
    if (skip != nullptr) {
      each_vector<kGroups>(kStripPixels, [&](int g, long i) {
        const __m512 v = _mm512_add_ps(_mm512_loadu_ps(sums + i), b.v[g]);
        store_bf16(out + i, _mm512_max_ps(_mm512_add_ps(v, load_bf16(skip + i)), floor));
      });
    } else {
      each_vector<kGroups>(kStripPixels, [&](int g, long i) {
        store_bf16(out + i, _mm512_max_ps(_mm512_add_ps(_mm512_loadu_ps(sums + i), b.v[g]), floor));
      });
    }
  });
}

namespace {

template <int kGroups, bool kSkip, bool kMask, bool kSecond>
void gradient_rows(const float* sums, const RowRun* runs, int run_count, const GradientEpilogue& e) {
  __m512 sum[kGroups], product[kGroups], product2[kGroups];
  for (int g = 0; g < kGroups; ++g) sum[g] = product[g] = product2[g] = _mm512_setzero_ps();
  for (int r = 0; r < run_count; ++r) {
    const float* in = sums + static_cast<long>(runs[r].row) * kGroups * 16;
    const long base = static_cast<long>(runs[r].pixel) * kGroups * 16;
    each_vector<kGroups>(runs[r].count, [&](int g, long i) {
      __m512 v = _mm512_loadu_ps(in + i);
      if constexpr (kSkip) v = _mm512_add_ps(v, load_bf16(e.skip + base + i));
      const __m512 z = load_bf16(e.first.z + base + i);
      __mmask16 positive;
      if constexpr (kMask) {
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
      if constexpr (kSecond) {
        const __m512 z2 = load_bf16(e.second.z + base + i);
        product2[g] =
            _mm512_fmadd_ps(v, _mm512_sub_ps(z2, _mm512_loadu_ps(e.second.mean + 16 * g)), product2[g]);
      }
    });
  }
  for (int g = 0; g < kGroups; ++g) {
    add_to_doubles(e.first.sum + 16 * g, sum[g]);
    add_to_doubles(e.first.product + 16 * g, product[g]);
    if constexpr (kSecond) {
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
      gradient_rows<kGroups, false, false, false>(sums, runs, run_count, e);
    } else if (second) {
      if (skip) {
        gradient_rows<kGroups, true, true, true>(sums, runs, run_count, e);
      } else {
        gradient_rows<kGroups, false, true, true>(sums, runs, run_count, e);
      }
    } else if (skip) {
      gradient_rows<kGroups, true, true, false>(sums, runs, run_count, e);
    } else {
      gradient_rows<kGroups, false, true, false>(sums, runs, run_count, e);
    }
  });
}

}  // namespace longtail::nn::amx
