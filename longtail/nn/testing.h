// Helpers of the tests of nn and its engines: golden files, made-up batches, distances. Only tests include
// this.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/philox.h"
#include "longtail/data/layout.h"
#include "longtail/nn/init.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn {

inline std::filesystem::path golden_path(const std::string& name) {
  return std::filesystem::path(LONGTAIL_SOURCE_DIR "/../shared/golden") / name;
}

#define SKIP_WITHOUT_GOLDEN()                                   \
  if (!std::filesystem::exists(golden_path("parameters.json"))) \
  GTEST_SKIP() << "the golden files are not here"

template <class T>
std::vector<T> read_array(const std::filesystem::path& path) {
  const auto bytes = base::read_bytes(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// 2-norm of the difference over the norm of the expected.
template <class A, class B>
double relative_distance(const A& actual, const B& expected) {
  double difference = 0, total = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(actual[i]) - static_cast<double>(expected[i]);
    difference += d * d;
    total += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(difference / total);
}

template <class A, class B>
double largest_difference(const A& actual, const B& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i])));
  }
  return largest;
}

}  // namespace longtail::nn
