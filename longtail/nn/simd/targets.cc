#include "longtail/nn/simd/targets.h"

#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::nn::simd {
namespace {

struct Known {
  Target target;
  const char* name;
  long long highway;
};
constexpr std::array<Known, 4> kKnown = {{
    {Target::kAvx512, "avx512", HWY_AVX3},
    {Target::kAvx2, "avx2", HWY_AVX2},
    {Target::kNeon, "neon", HWY_NEON},
    {Target::kScalar, "scalar", HWY_SCALAR | HWY_EMU128},
}};

Kernels make_table(Target target) {
  Kernels kernels{};
  kernels.name = target_name(target);
  set_winograd_forward(target, kernels);
  set_winograd_backward(target, kernels);
  set_winograd_weights(target, kernels);
  set_direct(target, kernels);
  set_direct_gradients(target, kernels);
  return kernels;
}

}  // namespace

const char* target_name(Target target) {
  return std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.target == target; })->name;
}

std::vector<Target> available_targets() {
  const long long compiled = HWY_TARGETS, here = hwy::SupportedTargets() | HWY_SCALAR | HWY_EMU128;
  std::vector<Target> targets;
  for (const Known& known : kKnown) {
    if (compiled & here & known.highway) targets.push_back(known.target);
  }
  return targets;
}

Target chosen_target() {
  const std::vector<Target> available = available_targets();
  const char* wish = std::getenv("LONGTAIL_CPU");
  if (wish == nullptr || *wish == '\0') return available.front();
  std::vector<std::string> names;
  for (const Target target : available) {
    if (std::string_view(wish) == target_name(target)) return target;
    names.emplace_back(target_name(target));
  }
  base::fail("LONGTAIL_CPU={}: this program on this CPU has {}", wish, base::join(names, ", "));
}

const Kernels& kernels_for(Target target) {
  static const std::vector<Kernels> tables = [] {
    std::vector<Kernels> all;
    for (const Target available : available_targets()) all.push_back(make_table(available));
    return all;
  }();
  const std::string_view name = target_name(target);
  for (const Kernels& table : tables) {
    if (table.name == name) return table;
  }
  base::fail("no kernels for {} here", name);
}

}  // namespace longtail::nn::simd
