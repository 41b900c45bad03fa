#include "longtail/sampling/fill.h"

namespace longtail::sampling {

#if !defined( \
    __x86_64__)  // another kind of CPU: nothing is done many at once, and the caller does all one by one

std::size_t draw_avx2(const DrawTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t draw_avx512(const DrawTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t permute_avx2(const PermuteTask&, std::int64_t*, std::size_t) { return 0; }
std::size_t permute_avx512(const PermuteTask&, std::int64_t*, std::size_t) { return 0; }

#endif

}  // namespace longtail::sampling
