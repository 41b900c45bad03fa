#include "longtail/sampling/fill.h"

namespace longtail::sampling {

#if defined(__x86_64__)

Instructions best_instructions() {
  static const Instructions best = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return Instructions::kAvx512;
    return __builtin_cpu_supports("avx2") ? Instructions::kAvx2 : Instructions::kPlain;
  }();
  return best;
}

#else  // another kind of CPU: nothing is done many at once, and the caller does all one by one

Instructions best_instructions() { return Instructions::kPlain; }
std::size_t draw_avx2(const DrawTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t draw_avx512(const DrawTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t permute_avx2(const PermuteTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t permute_avx512(const PermuteTask&, std::int64_t*, std::size_t) { return 0; }

#endif

}  // namespace longtail::sampling
