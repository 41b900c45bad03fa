#include "longtail/nn/onednn/kernels.h"

namespace longtail::nn::onednn {

extern const Kernels k_baseline_8, k_baseline_16;
extern const Kernels k_avx2_8, k_avx2_16;
extern const Kernels k_avx512_8, k_avx512_16;

namespace {

bool runs(std::string_view name) {
  if (name == "avx512") {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  }
  if (name == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return true;
}

}  // namespace

const Kernels* kernels(int channel_block, std::string_view name) {
  for (const Kernels* k : {&k_avx512_8, &k_avx512_16, &k_avx2_8, &k_avx2_16, &k_baseline_8, &k_baseline_16}) {
    const bool wide = k == &k_avx512_16 || k == &k_avx2_16 || k == &k_baseline_16;
    if (k->name == name && wide == (channel_block == 16) && runs(name)) return k;
  }
  return nullptr;
}

const Kernels& kernels(int channel_block) {
  for (const char* name : {"avx512", "avx2"}) {
    if (const Kernels* k = kernels(channel_block, name)) return *k;
  }
  return *kernels(channel_block, "baseline");
}

}  // namespace longtail::nn::onednn
