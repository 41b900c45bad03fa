// Whether tiles can be used: compiled in, present in the CPU, and granted by the kernel, which gives a
// process the larger register state on request. Software tiles (software_tile.h) need nothing from it.
#include <sys/syscall.h>
#include <unistd.h>

#include "longtail/base/cpu.h"
#include "longtail/nn/amx/amx_engine.h"

namespace longtail::nn {
bool amx_available(std::string* why) {
#ifndef LONGTAIL_AMX
  *why = "it was not compiled in (the compiler does not know AMX)";
  return false;
#elif defined(LONGTAIL_SOFTWARE_TILES)
  if (!base::cpu_has_bf16_vectors()) {
    *why = "the CPU has no AVX-512 with BF16 and VBMI, which tiles in software need too";
    return false;
  }
  return true;
#else
  if (!base::cpu_has_tiles()) {
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
