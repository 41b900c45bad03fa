// The 3x3 convolutions of stride 1 with operands and output of two parts.
#include "longtail/nn/amx/image_loop.h"

namespace longtail::nn::amx {
namespace {

struct Statistics {
  static constexpr bool kParts = true;
  Bf16* z;
  Low* low;
  double* total;
  double* total_square;
  __m512 sum, square;

  [[gnu::always_inline]] void begin(int) { sum = square = _mm512_setzero_ps(); }
  [[gnu::always_inline]] void vector(const float* sums, long element) {
    const __m512 v = _mm512_load_ps(sums);
    store_parts(z + element, low + element, split(v));
    sum = _mm512_add_ps(sum, v);
    square = _mm512_fmadd_ps(v, v, square);
  }
  [[gnu::always_inline]] void end(int group) {
    add_to_doubles(total + 16 * group, sum);
    add_to_doubles(total_square + 16 * group, square);
  }
};

}  // namespace

void conv_statistics_parts(const ImageConv& conv, Bf16* z, Low* low, double* sum, double* square) {
  convolve(conv, Statistics{z, low, sum, square, {}, {}});
}

}  // namespace longtail::nn::amx
