// The engines by name, for code that lists them without making one (registry.h makes them), in the order in
// which `auto` tries them.
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

// An engine until 0.1.0. Checkpoints and logs of its runs can still be read; nothing runs on it any more.
inline constexpr std::string_view kRetiredEngine = "onednn";

}  // namespace longtail::nn
