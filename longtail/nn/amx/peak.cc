#include "longtail/nn/amx/peak.h"

#include "longtail/nn/amx/image_loop.h"
#include "longtail/nn/amx/tile.h"
#include "longtail/nn/amx/vector.h"

namespace longtail::nn::amx {

void peak_multiplies(const void* tile, long count) {
  tile_load<4>(tile, 64);
  tile_load<5>(tile, 64);
  for (long i = 0; i < count; ++i) {
    tile_multiply<0, 4, 5>();
    tile_multiply<1, 4, 5>();
    tile_multiply<2, 4, 5>();
    tile_multiply<3, 4, 5>();
  }
}

namespace {

#ifdef LONGTAIL_SOFTWARE_TILES
inline void chunk_close(const void* data) {
  const auto* tiles = static_cast<const char*>(data);
  multiply_chunk<true>(tiles + 3 * 1024, 512, 64, reinterpret_cast<const Bf16*>(tiles), [](auto) {});
}
#else
#define LOAD(tile, at) "tileloadd " #at "(%0,%1,1), %%tmm" #tile "\n\t"
#define MULTIPLY(sum, right) "tdpbf16ps %%tmm" #right ", %%tmm4, %%tmm" #sum "\n\t"
inline void chunk_close(const void* data) {
  __asm__ volatile(LOAD(5, 0) LOAD(4, 3072) MULTIPLY(0, 5) LOAD(6, 1024) LOAD(4, 4096) MULTIPLY(1, 5)
                       MULTIPLY(0, 6) LOAD(7, 2048) LOAD(4, 5120) MULTIPLY(2, 5) MULTIPLY(1, 6) MULTIPLY(0, 7)
                           LOAD(4, 3072) MULTIPLY(3, 5) MULTIPLY(2, 6) MULTIPLY(1, 7) LOAD(4, 4096)
                               MULTIPLY(3, 6) MULTIPLY(2, 7) LOAD(4, 5120) MULTIPLY(3, 7)::"r"(data),
                   "r"(64L));
}
#undef LOAD
#undef MULTIPLY
#endif

}  // namespace

void tile_chunks(const void* data, long count, bool apart) {
  const char* rows = static_cast<const char*>(data) + 3 * 1024;
  const auto* weights = static_cast<const Bf16*>(data);
  for (long i = 0; i < count; ++i) {
    if (apart) {
      multiply_chunk<true>(rows, 512, 64, weights, [](auto) {});
    } else {
      chunk_close(data);
    }
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
