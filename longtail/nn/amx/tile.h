// AMX tile registers by number, for kernel files only (compiled with the AMX and AVX-512 flags). All eight
// tiles have 16 rows of 64 bytes: 16x32 bf16 as a left operand, 16 pairs x 16 columns as a right one, 16x16
// floats as a sum.
//
// Loads do not tell the compiler what memory they read: call fence() after writing memory that tiles will
// load.
#pragma once

#include <cstdint>

#ifdef LONGTAIL_SOFTWARE_TILES
#include "longtail/nn/amx/software_tile.h"
#else

namespace longtail::nn::amx {
namespace {

// The configuration of all eight tiles. Static storage: GCC 12 assumes that loading one reads 8 bytes of it.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfig kTileConfig;

inline void tile_configure() { __asm__ volatile("ldtilecfg %0" ::"m"(kTileConfig)); }
inline void tile_release() { __asm__ volatile("tilerelease"); }

// Idle instructions after every load and multiply. On a core with nothing else to do they change nothing: a
// multiply takes 16 cycles and hides the 8 of a load. But when something else seems to run on the core's
// other hyperthread (on shared machines another guest), tile instructions that follow each other closely take
// three times as long, and only twice as long with these in between (docs/performance.md). Their number
// counts, not their bytes.
#define LONGTAIL_APART(count) "\n\t.rept " #count "\n\tnop\n\t.endr"

inline void fence() { __asm__ volatile("" ::: "memory"); }

template <int kTile>
inline void tile_zero() {
  __asm__ volatile("tilezero %%tmm%c0" ::"i"(kTile));
}

template <int kTile>
inline void tile_load(const void* base, long stride) {
  __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" LONGTAIL_APART(8)::"i"(kTile), "r"(base), "r"(stride));
}

template <int kTile>
inline void tile_store(void* base, long stride) {
  __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(kTile), "r"(base), "r"(stride) : "memory");
}

// sum += left x right
template <int kSum, int kLeft, int kRight>
inline void tile_multiply() {
  __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" LONGTAIL_APART(16)::"i"(kSum), "i"(kLeft),
                   "i"(kRight));
}

}  // namespace
}  // namespace longtail::nn::amx

#endif
