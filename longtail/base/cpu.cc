#include "longtail/base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::base {
namespace {

std::vector<Cpu> detected() {
  std::vector<Cpu> found;
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    found.push_back(Cpu::kAvx512);
  if (avx2) found.push_back(Cpu::kAvx2);
#elif defined(__aarch64__)
  found.push_back(Cpu::kNeon);
#endif
  found.push_back(Cpu::kScalar);
  return found;
}

#if defined(__x86_64__)
// The registers that the system saves and restores, as XGETBV reports them; 0 without XGETBV.
std::uint32_t enabled_state() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 27 & 1) == 0) return 0;  // OSXSAVE
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#endif

}  // namespace

const char* cpu_name(Cpu cpu) {
  switch (cpu) {
    case Cpu::kScalar:
      return "scalar";
    case Cpu::kNeon:
      return "neon";
    case Cpu::kAvx2:
      return "avx2";
    case Cpu::kAvx512:
      return "avx512";
  }
  fail("no such kind of CPU");
}

const std::vector<Cpu>& cpus_here() {
  static const std::vector<Cpu> here = detected();
  return here;
}

std::optional<Cpu> forced_cpu() {
  const char* wish = std::getenv("LONGTAIL_CPU");
  if (wish == nullptr || *wish == '\0') return std::nullopt;
  std::vector<std::string> names;
  for (const Cpu cpu : cpus_here()) {
    if (std::string_view(wish) == cpu_name(cpu)) return cpu;
    names.emplace_back(cpu_name(cpu));
  }
  fail("LONGTAIL_CPU={}: this program on this CPU has {}", wish, join(names, ", "));
}

Cpu chosen_cpu() { return forced_cpu().value_or(cpus_here().front()); }

bool cpu_has_bf16_vectors() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr std::uint32_t kVectorState = 0xe6;
  if ((enabled_state() & kVectorState) != kVectorState) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool vectors =  // AVX-512 F, DQ, BW, VL, VBMI
      (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1) && (c >> 1 & 1);
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d)) return false;
  return vectors && (a >> 5 & 1);  // AVX-512 bf16
#else
  return false;
#endif
}

bool cpu_has_tiles() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr std::uint32_t kTileState = 3u << 17;
  if (!cpu_has_bf16_vectors() || (enabled_state() & kTileState) != kTileState) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  return (d >> 22 & 1) && (d >> 24 & 1);  // AMX bf16, tile
#else
  return false;
#endif
}

}  // namespace longtail::base
