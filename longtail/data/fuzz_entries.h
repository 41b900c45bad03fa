// The entries that the fuzzers call: every reader of files from outside, on bytes in memory. An entry may
// throw base::Error and nothing else; a crash, a leak or a hang is a bug. Used by the *_fuzz.cc programs and
// by fuzz_test.cc, which runs the corpus in the ordinary build.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/data/arrays.h"
#include "longtail/data/cifar.h"
#include "longtail/data/idx.h"
#include "longtail/data/image.h"
#include "longtail/data/pickle.h"
#include "longtail/data/pictures.h"

namespace longtail::data {

using Input = std::span<const std::uint8_t>;

template <class Work>
void expect_only_errors(const Work& work) {
  try {
    work();
  } catch (const base::Error&) {
  }
}

inline void fuzz_pickle(Input input) {
  expect_only_errors([&] { Pickle(input, "input").strings("fine_label_names"); });
  for (const std::string_view key : {"labels", "fine_labels"}) {
    std::vector<std::uint8_t> bytes(input.begin(), input.end());
    expect_only_errors([&] { take_cifar_pickle(bytes, key, "input"); });
  }
}

inline void fuzz_cifar(Input input) {
  for (const int label_bytes : {1, 2}) {
    std::vector<std::uint8_t> bytes(input.begin(), input.end());
    expect_only_errors([&] { take_cifar_binary(bytes, label_bytes, "input"); });
  }
}

inline void fuzz_idx(Input input) {
  expect_only_errors([&] { parse_idx_images(input, "input"); });
  expect_only_errors([&] { parse_idx_labels(input, "input"); });
}

inline void fuzz_picture(Input input) {
  expect_only_errors([&] {
    std::vector<std::uint8_t> out(std::size_t{3} * kPixels);
    area_average(decode_picture(input, "input", 1 << 16),
                 std::span<std::uint8_t, std::size_t{3} * kPixels>(out.data(), out.size()));
  });
}

inline void fuzz_list(Input input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  expect_only_errors([&] { parse_picture_list(text, "root", "input"); });
}

inline void fuzz_npy(Input input) {
  expect_only_errors([&] { parse_npy(input, "input"); });
}

}  // namespace longtail::data
