#include "longtail/nn/head_loops.h"

namespace longtail::nn {

HeadLoops head_loops_avx2() { return {logits_of<float>, combine<float>}; }

}  // namespace longtail::nn
