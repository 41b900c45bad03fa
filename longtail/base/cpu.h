// What this CPU can do, asked in one place. Code that is compiled for several kinds of CPU (sampling, the kernels of `simd`,
// the classifier) chooses by chosen_cpu(), so that the environment variable LONGTAIL_CPU forces all of it at once.
#pragma once

#include <optional>
#include <vector>

namespace longtail::base {

// Each includes fused multiply-adds, but for the first.
enum class Cpu { kScalar, kNeon, kAvx2, kAvx512 };

// scalar, neon, avx2 or avx512.
const char* cpu_name(Cpu cpu);
// What this CPU is, the fastest first; the last is always kScalar.
const std::vector<Cpu>& cpus_here();
// What LONGTAIL_CPU names, if it is set; an Error if that cannot be had.
std::optional<Cpu> forced_cpu();
// That, or the fastest.
Cpu chosen_cpu();

// All of AVX-512 that the tile engines need beside the tiles: F, DQ, BW, VL, VBMI and BF16.
bool cpu_has_bf16_vectors();
// The same with AMX tiles for bf16. The kernel must still grant them.
bool cpu_has_tiles();

}  // namespace longtail::base
