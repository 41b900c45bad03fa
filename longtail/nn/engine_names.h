// The engines by name, for whoever lists them without making one (registry.h makes them). The order is that
// in which `auto` asks.
#pragma once

#include <array>
#include <string_view>

namespace longtail::nn {

struct EngineName {
  std::string_view name;
  std::string_view about;  // half a sentence
  bool automatic;          // `auto` may take it
};

inline constexpr std::array<EngineName, 4> kEngineNames = {{
    {"amx", "bf16 tiles with fp32 sums and weights, on Intel CPUs with AMX", true},
    {"amx-fine", "tiles with twice the bits in the forward pass: gradients of fp32", false},
    {"simd", "fp32 on any CPU, the same bits on all of them", true},
    {"reference", "plain loops in double, for checking: very slow", true},
}};

// There until 0.1.0. Checkpoints and logs of its runs are still read; nothing runs on it.
inline constexpr std::string_view kRetiredEngine = "onednn";

}  // namespace longtail::nn
