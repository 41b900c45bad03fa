// The 3x3 convolutions of stride 1 with the epilogues that process their sums.
#include "longtail/nn/amx/image_loop.h"

namespace longtail::nn::amx {
namespace {

template <bool kSkip>
struct Activation {
  static constexpr bool kParts = false;
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

template <GradientForm kForm>
struct Gradient {
  static constexpr bool kParts = false;
  const GradientEpilogue& e;
  __m512 scale, shift, mean, mean2, sum, product, product2;

  [[gnu::always_inline]] void begin(int group) {
    if constexpr (!kForm.mask) {
      scale = _mm512_loadu_ps(e.scale + 16 * group);
      shift = _mm512_loadu_ps(e.shift + 16 * group);
    }
    mean = _mm512_loadu_ps(e.first.mean + 16 * group);
    if constexpr (kForm.second) mean2 = _mm512_loadu_ps(e.second.mean + 16 * group);
    sum = product = product2 = _mm512_setzero_ps();
  }
  [[gnu::always_inline]] void vector(const float* sums, long element) {
    __m512 v = _mm512_load_ps(sums);
    if constexpr (kForm.skip) v = _mm512_add_ps(v, load_bf16(e.skip + element));
    const __m512 z =
        kForm.low ? load_parts(e.first.z + element, e.low + element) : load_bf16(e.first.z + element);
    __mmask16 positive;
    if constexpr (kForm.mask) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(e.mask + element));
      positive = _mm256_cmpgt_epi16_mask(x, _mm256_setzero_si256());
    } else {
      positive = _mm512_cmp_ps_mask(_mm512_fmadd_ps(z, scale, shift), _mm512_setzero_ps(), _CMP_GT_OQ);
    }
    v = _mm512_maskz_mov_ps(positive, v);
    store_bf16(e.d + element, v);
    sum = _mm512_add_ps(sum, v);
    product = _mm512_fmadd_ps(v, _mm512_sub_ps(z, mean), product);
    if constexpr (kForm.second) {
      product2 = _mm512_fmadd_ps(v, _mm512_sub_ps(load_bf16(e.second.z + element), mean2), product2);
    }
  }
  [[gnu::always_inline]] void end(int group) {
    add_to_doubles(e.first.sum + 16 * group, sum);
    add_to_doubles(e.first.product + 16 * group, product);
    if constexpr (kForm.second) {
      add_to_doubles(e.second.sum + 16 * group, sum);
      add_to_doubles(e.second.product + 16 * group, product2);
    }
  }
};

template <GradientForm kForm>
void gradient(const ImageConv& conv, const GradientEpilogue& e) {
  convolve(conv, Gradient<kForm>{e, {}, {}, {}, {}, {}, {}, {}});
}

}  // namespace

void conv_statistics(const ImageConv& conv, Bf16* z, double* sum, double* square) {
  convolve(conv, Statistics<false>{z, nullptr, sum, square, {}, {}});
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
    e.low == nullptr ? gradient<GradientForm{}>(conv, e) : gradient<GradientForm{.low = true}>(conv, e);
  } else if (skip) {
    second ? gradient<GradientForm{.skip = true, .mask = true, .second = true}>(conv, e)
           : gradient<GradientForm{.skip = true, .mask = true}>(conv, e);
  } else {
    second ? gradient<GradientForm{.mask = true, .second = true}>(conv, e)
           : gradient<GradientForm{.mask = true}>(conv, e);
  }
}

}  // namespace longtail::nn::amx
