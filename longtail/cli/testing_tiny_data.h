// For tests that train: data small enough for a training in seconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "longtail/base/file.h"

namespace longtail::cli {

inline void append_number(std::string& text, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
}

// Four classes that a network can tell apart, in the file format of MNIST.
inline void write_tiny_data(const std::filesystem::path& folder, const std::string& split, int images,
                            unsigned seed) {
  std::mt19937 random(seed);
  std::string pixels, labels;
  for (const std::uint32_t number : {0x803U, static_cast<std::uint32_t>(images), 28U, 28U})
    append_number(pixels, number);
  for (const std::uint32_t number : {0x801U, static_cast<std::uint32_t>(images)})
    append_number(labels, number);
  for (int i = 0; i < images; ++i) {
    for (int p = 0; p < 28 * 28; ++p)
      pixels += static_cast<char>(random() % 60 + 40 * static_cast<unsigned>(i % 4));
    labels += static_cast<char>(i % 4);
  }
  base::write_atomically(folder / (split + "-images-idx3-ubyte"), pixels);
  base::write_atomically(folder / (split + "-labels-idx1-ubyte"), labels);
}

}  // namespace longtail::cli
