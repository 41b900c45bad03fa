// What this CPU can do, determined in one place. Code that is compiled for several kinds of CPU (sampling,
// the kernels of `simd`, the classifier) uses chosen_cpu(), so that the environment variable LONGTAIL_CPU
// forces all of it at once.
#pragma once

#include <optional>
#include <vector>

namespace longtail::base {

// All but the first include fused multiply-add.
enum class Cpu { kScalar, kNeon, kAvx2, kAvx512 };

// scalar, neon, avx2 or avx512.
const char* cpu_name(Cpu cpu);
// The kinds that this CPU supports, fastest first; the last is always kScalar.
const std::vector<Cpu>& cpus_here();
// The kind that LONGTAIL_CPU names, if it is set; an Error if this CPU does not support it.
std::optional<Cpu> forced_cpu();
// forced_cpu(), or else the fastest kind.
Cpu chosen_cpu();

// All of AVX-512 that the tile engines need in addition to the tiles: F, DQ, BW, VL, VBMI and BF16.
bool cpu_has_bf16_vectors();
// The same plus AMX tiles for bf16. The operating system must still grant them to the process.
bool cpu_has_tiles();

}  // namespace longtail::base
