// The instruction sets that the kernels are compiled for. Include it before anything of Highway.
#pragma once

// CPUs without a fused multiply-add in hardware take the scalar path, which uses the one of the C library.
// AVX3_DL and SVE would run the same operations as AVX-512 and NEON.
#define HWY_DISABLED_TARGETS                                                                           \
  (HWY_SSE2 | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE | HWY_SVE2 | \
   HWY_SVE_256 | HWY_SVE2_128)

#include <hwy/detect_targets.h>

// Names that older or newer versions of Highway do not know.
#ifndef HWY_SSE2
#define HWY_SSE2 0
#endif
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0
#endif

#include <span>
#include <string>
#include <vector>

#include "longtail/base/cpu.h"
#include "longtail/nn/simd/kernels.h"

namespace longtail::nn::simd {

using base::Cpu;

// The kinds of CPU that were compiled in and that this CPU is, the fastest first. Highway asks for more than
// base::cpus_here() does (AES, BMI, F16C), so there may be fewer.
std::vector<Cpu> available_cpus();
// The one that LONGTAIL_CPU names, or the fastest of these.
Cpu kernel_cpu();
const Kernels& kernels_for(Cpu cpu);

// Each file of kernels sets its part of a table.
void set_winograd_forward(Cpu cpu, Kernels& kernels);
void set_winograd_backward(Cpu cpu, Kernels& kernels);
void set_winograd_weights(Cpu cpu, Kernels& kernels);
void set_direct(Cpu cpu, Kernels& kernels);
void set_direct_gradients(Cpu cpu, Kernels& kernels);

}  // namespace longtail::nn::simd

#if HWY_TARGETS & HWY_AVX3
#define LONGTAIL_AVX512(call) \
  if (cpu == Cpu::kAvx512) return N_AVX3::call;
#else
#define LONGTAIL_AVX512(call)
#endif
#if HWY_TARGETS & HWY_AVX2
#define LONGTAIL_AVX2(call) \
  if (cpu == Cpu::kAvx2) return N_AVX2::call;
#else
#define LONGTAIL_AVX2(call)
#endif
#if HWY_TARGETS & HWY_NEON
#define LONGTAIL_NEON(call) \
  if (cpu == Cpu::kNeon) return N_NEON::call;
#else
#define LONGTAIL_NEON(call)
#endif
#if HWY_TARGETS & HWY_EMU128
#define LONGTAIL_SCALAR(call) return N_EMU128::call;
#elif HWY_TARGETS & HWY_SCALAR
#define LONGTAIL_SCALAR(call) return N_SCALAR::call;
#else
#define LONGTAIL_SCALAR(call)
#endif
// Calls a function in the namespace of the Highway target for a CPU.
#define LONGTAIL_FOR_CPU(cpu, call) \
  LONGTAIL_AVX512(call) LONGTAIL_AVX2(call) LONGTAIL_NEON(call) LONGTAIL_SCALAR(call)
