// The batch norms of a network as the walk keeps them: the sums that the slices of a pass leave and, computed
// from them in double and in slice order, the coefficients that the next pass reads (backend.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "longtail/nn/backend.h"
#include "longtail/nn/buffer.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn {

// Room for the sums of every slice.
class SumTable {
 public:
  SumTable() = default;
  SumTable(int slices, int channels);
  SliceSums clear(int slice);  // set to zero
  // Added over slices [first, last) in order.
  double sum(int first, int last, int which, int channel) const;
  double product(int first, int last, int which, int channel) const;

 private:
  double total(int first, int last, int row, int channel) const;
  std::size_t channels_ = 0;
  Buffer<double> values_;  // [slice][sum 0, sum 1, product 0, product 1][channel]
};

// Over which slices a batch norm sums, which of their two sums it takes, and over how many values in all.
struct SumRange {
  const SumTable& table;
  int first;
  int last;
  int which;
  double count;
};

template <class T>
class NormBank {
 public:
  explicit NormBank(const NetworkPlan& plan);
  std::span<const Norm<T>> norms() const { return norms_; }

  // Whether all sums of the unit are finite numbers.
  static bool finite(const ConvUnit& unit, const SumRange& sums);
  // Coefficients from the statistics of the batch, which are blended into the running ones (momentum 0.1,
  // unbiased variance). Like backward, it returns whether all sums were finite.
  bool from_batch(const ConvUnit& unit, const SumRange& sums, std::span<const T> parameters,
                  std::span<T> buffers);
  void from_running(const ConvUnit& unit, std::span<const T> parameters, std::span<const T> buffers);
  // Coefficients of the backward pass and the gradient of scale and shift. If `frozen`, the statistics are
  // the running ones, which do not depend on the values.
  bool backward(const ConvUnit& unit, const SumRange& sums, bool frozen, std::span<T> gradient);

 private:
  // One row of coefficients per unit, in this order.
  enum Row { kScale, kShift, kMean, kInverse, kA, kB, kC, kRows };
  T* row(const ConvUnit& unit, Row row) {
    return values_.data() + offset_[static_cast<std::size_t>(unit.index)] +
           static_cast<std::size_t>(row) * static_cast<std::size_t>(unit.out);
  }
  void set(const ConvUnit& unit, int channel, double mean, double variance, std::span<const T> parameters);

  std::vector<std::size_t> offset_;
  Buffer<T> values_;
  std::vector<Norm<T>> norms_;
};

}  // namespace longtail::nn
