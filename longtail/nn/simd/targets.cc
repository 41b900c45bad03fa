#include "longtail/nn/simd/targets.h"

#include <hwy/targets.h>

#include <optional>
#include <string_view>

#include "longtail/base/error.h"

namespace longtail::nn::simd {
namespace {

long long highway_target(Cpu cpu) {
  switch (cpu) {
    case Cpu::kAvx512:
      return HWY_AVX3;
    case Cpu::kAvx2:
      return HWY_AVX2;
    case Cpu::kNeon:
      return HWY_NEON;
    case Cpu::kScalar:
      return HWY_SCALAR | HWY_EMU128;
  }
  return 0;
}

Kernels make_table(Cpu cpu) {
  Kernels kernels{};
  kernels.name = base::cpu_name(cpu);
  set_winograd_forward(cpu, kernels);
  set_winograd_backward(cpu, kernels);
  set_winograd_weights(cpu, kernels);
  set_direct(cpu, kernels);
  set_direct_gradients(cpu, kernels);
  return kernels;
}

}  // namespace

std::vector<Cpu> available_cpus() {
  const long long compiled = HWY_TARGETS;
  long long here = hwy::SupportedTargets() | HWY_SCALAR | HWY_EMU128;
#if defined(__aarch64__)
  here |= HWY_NEON;  // Highway also wants AES, which a Raspberry Pi lacks and no kernel uses
#endif
  std::vector<Cpu> result;
  for (const Cpu cpu : base::cpus_here()) {
    if (compiled & here & highway_target(cpu)) result.push_back(cpu);
  }
  return result;
}

Cpu kernel_cpu() {
  const std::optional<Cpu> forced = base::forced_cpu();
  return forced ? *forced : available_cpus().front();
}

const Kernels& kernels_for(Cpu cpu) {
  static const std::vector<Kernels> tables = [] {
    std::vector<Kernels> all;
    for (const Cpu available : available_cpus()) all.push_back(make_table(available));
    return all;
  }();
  const std::string_view name = base::cpu_name(cpu);
  for (const Kernels& table : tables) {
    if (table.name == name) return table;
  }
  base::fail("the engine `simd` has no kernels for {} here", name);
}

}  // namespace longtail::nn::simd
