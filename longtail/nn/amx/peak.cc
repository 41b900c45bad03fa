#include "longtail/nn/amx/peak.h"

#include "longtail/nn/amx/tile.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {

void peak_multiplies(long count) {
  tile_zero<4>();
  tile_zero<5>();
  for (long i = 0; i < count; ++i) {
    tile_multiply<0, 4, 5>();
    tile_multiply<1, 4, 5>();
    tile_multiply<2, 4, 5>();
    tile_multiply<3, 4, 5>();
  }
}

void peak_read(const void* data, std::size_t bytes) {
  const char* p = static_cast<const char*>(data);
  __m512i sum[4] = {};
  for (std::size_t i = 0; i + 256 <= bytes; i += 256) {
    for (int k = 0; k < 4; ++k) sum[k] = _mm512_xor_si512(sum[k], _mm512_loadu_si512(p + i + 64 * k));
  }
  const __m512i all = _mm512_xor_si512(_mm512_xor_si512(sum[0], sum[1]), _mm512_xor_si512(sum[2], sum[3]));
  __asm__ volatile("" ::"v"(all));
}

}  // namespace longtail::nn::amx
