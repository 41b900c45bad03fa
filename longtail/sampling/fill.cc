#include "longtail/sampling/fill.h"

namespace longtail::sampling {

Instructions best_instructions() {
  static const Instructions best = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return Instructions::kAvx512;
    return __builtin_cpu_supports("avx2") ? Instructions::kAvx2 : Instructions::kPlain;
  }();
  return best;
}

}  // namespace longtail::sampling
