#include "longtail/sampling/fill.h"

namespace longtail::sampling {

#if !defined( \
    __x86_64__)  // on another kind of CPU nothing is vectorised, and the caller makes all draws one by one

std::size_t draw_avx2(const DrawTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t draw_avx512(const DrawTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t permute_avx2(const PermuteTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t permute_avx512(const PermuteTask&, std::int64_t*, std::size_t) { return 0; }

#endif

}  // namespace longtail::sampling
