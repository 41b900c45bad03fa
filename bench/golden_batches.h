// The ten golden batches of 128 images (CIFAR-100-LT, rho = 100, seed 42), for the programs that compare the
// engines with PyTorch and with each other. The scripts in peers/ read the same batches with golden.py.
#pragma once

#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/data/augment.h"
#include "longtail/data/registry.h"
#include "longtail/nn/engine.h"

namespace longtail::bench {

constexpr int kBatch = 128;

using base::read_array;

// Batches in the layout of one engine.
class GoldenBatches {
 public:
  GoldenBatches(const std::filesystem::path& golden, const data::Dataset& cifar, const nn::Engine& engine,
                base::ThreadPool& pool)
      : stride_(kBatch * data::bytes_per_image(engine.input_layout(), cifar.shape())) {
    const auto rows = read_array<std::int32_t>(golden / "steps_rows.i32");
    for (const std::int32_t row : rows)
      labels_.push_back(cifar.train.labels.at(static_cast<std::size_t>(row)));
    pixels_.resize(rows.size() / kBatch * stride_);
    data::write_batch(cifar, cifar.train, std::span(rows).first(rows.size() / kBatch * kBatch), {},
                      engine.input_layout(), pixels_.data(), pool);
  }

  std::size_t count() const { return labels_.size() / kBatch; }
  nn::Batch batch(std::size_t number) const {
    return {pixels_.data() + number * stride_, std::span(labels_).subspan(number * kBatch, kBatch), kBatch};
  }

 private:
  std::size_t stride_;
  std::vector<std::byte> pixels_;
  std::vector<std::int32_t> labels_;
};

}  // namespace longtail::bench
