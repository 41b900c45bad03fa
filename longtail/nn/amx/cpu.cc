// Whether tiles can be used: compiled in, in the CPU, and granted by the kernel, which gives a process the
// larger register state on request.
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "longtail/nn/amx/amx_engine.h"

namespace longtail::nn {
namespace {

#ifdef LONGTAIL_AMX
bool cpu_has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 27 & 1) == 0) return false;  // OSXSAVE
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr std::uint32_t kVectorState = 0xe6, kTileState = 3u << 17;
  if ((low & kVectorState) != kVectorState || (low & kTileState) != kTileState) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool vectors =  // AVX-512 F, DQ, BW, VL, VBMI
      (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1) && (c >> 1 & 1);
  const bool tiles = (d >> 22 & 1) && (d >> 24 & 1);  // AMX bf16, tile
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d)) return false;
  return vectors && tiles && (a >> 5 & 1);  // AVX-512 bf16
}
#endif

}  // namespace

bool amx_available(std::string* why) {
#ifndef LONGTAIL_AMX
  *why = "it was not compiled in (the compiler does not know AMX)";
  return false;
#else
  if (!cpu_has_tiles()) {
    *why = "the CPU has no AMX tiles with AVX-512 bf16";
    return false;
  }
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) {
    *why = "the kernel did not grant the tile registers (Linux 5.16 or newer does)";
    return false;
  }
  return true;
#endif
}

#ifndef LONGTAIL_AMX
std::unique_ptr<Backend<float>> make_amx_backend(const ResNetSpec&, int, int) { return nullptr; }
std::unique_ptr<Backend<float>> make_amx_fine_backend(const ResNetSpec&, int, int) { return nullptr; }
#endif

}  // namespace longtail::nn
