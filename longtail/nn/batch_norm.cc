#include "longtail/nn/batch_norm.h"

#include <algorithm>
#include <cmath>

namespace longtail::nn {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

std::size_t at(std::int64_t offset, int channel) { return static_cast<std::size_t>(offset + channel); }

}  // namespace

SumTable::SumTable(int slices, int channels)
    : channels_(static_cast<std::size_t>(channels)),
      values_(static_cast<std::size_t>(slices) * 4 * channels_) {}

SliceSums SumTable::clear(int slice) {
  double* rows = values_.data() + static_cast<std::size_t>(slice) * 4 * channels_;
  std::fill_n(rows, 4 * channels_, 0.0);
  return {{rows, rows + channels_}, {rows + 2 * channels_, rows + 3 * channels_}};
}

double SumTable::total(int first, int last, int row, int channel) const {
  double result = 0;
  for (int slice = first; slice < last; ++slice) {
    result +=
        values_[static_cast<std::size_t>(slice * 4 + row) * channels_ + static_cast<std::size_t>(channel)];
  }
  return result;
}
double SumTable::sum(int first, int last, int which, int channel) const {
  return total(first, last, which, channel);
}
double SumTable::product(int first, int last, int which, int channel) const {
  return total(first, last, 2 + which, channel);
}

template <class T>
NormBank<T>::NormBank(const NetworkPlan& plan) {
  std::size_t total = 0;
  plan.each_unit([&](const ConvUnit& unit) {
    offset_.push_back(total);
    total += static_cast<std::size_t>(kRows) * static_cast<std::size_t>(unit.out);
  });
  values_ = Buffer<T>(total);
  plan.each_unit([&](const ConvUnit& unit) {
    norms_.push_back({row(unit, kScale), row(unit, kShift), row(unit, kMean), row(unit, kA), row(unit, kB),
                      row(unit, kC)});
  });
}

template <class T>
bool NormBank<T>::finite(const ConvUnit& unit, const SumRange& s) {
  for (int ch = 0; ch < unit.out; ++ch) {
    if (!std::isfinite(s.table.sum(s.first, s.last, s.which, ch)) ||
        !std::isfinite(s.table.product(s.first, s.last, s.which, ch))) {
      return false;
    }
  }
  return true;
}

template <class T>
void NormBank<T>::set(const ConvUnit& unit, int channel, double mean, double variance,
                      std::span<const T> parameters) {
  const double inverse = 1 / std::sqrt(variance + kEpsilon);
  const double gamma = parameters[at(unit.gamma, channel)];
  row(unit, kMean)[channel] = static_cast<T>(mean);
  row(unit, kInverse)[channel] = static_cast<T>(inverse);
  row(unit, kScale)[channel] = static_cast<T>(gamma * inverse);
  row(unit, kShift)[channel] = static_cast<T>(parameters[at(unit.beta, channel)] - mean * gamma * inverse);
}

template <class T>
bool NormBank<T>::from_batch(const ConvUnit& unit, const SumRange& s, std::span<const T> parameters,
                             std::span<T> buffers) {
  bool all_finite = true;
  for (int ch = 0; ch < unit.out; ++ch) {
    const double mean = s.table.sum(s.first, s.last, s.which, ch) / s.count;
    const double square = s.table.product(s.first, s.last, s.which, ch) / s.count;
    const double variance = std::max(square - mean * mean, 0.0);
    all_finite = all_finite && std::isfinite(mean) && std::isfinite(square);
    set(unit, ch, mean, variance, parameters);
    const double unbiased = s.count > 1 ? variance * s.count / (s.count - 1) : variance;
    T& running_mean = buffers[at(unit.mean, ch)];
    T& running_variance = buffers[at(unit.variance, ch)];
    running_mean = static_cast<T>((1 - kMomentum) * running_mean + kMomentum * mean);
    running_variance = static_cast<T>((1 - kMomentum) * running_variance + kMomentum * unbiased);
  }
  return all_finite;
}

template <class T>
void NormBank<T>::from_running(const ConvUnit& unit, std::span<const T> parameters,
                               std::span<const T> buffers) {
  for (int ch = 0; ch < unit.out; ++ch) {
    set(unit, ch, buffers[at(unit.mean, ch)], buffers[at(unit.variance, ch)], parameters);
  }
}

template <class T>
bool NormBank<T>::backward(const ConvUnit& unit, const SumRange& s, bool frozen, std::span<T> gradient) {
  bool all_finite = true;
  for (int ch = 0; ch < unit.out; ++ch) {
    const double sum = s.table.sum(s.first, s.last, s.which, ch);
    const T scale = row(unit, kScale)[ch], inverse = row(unit, kInverse)[ch];
    const double gamma_gradient = s.table.product(s.first, s.last, s.which, ch) * inverse;
    all_finite = all_finite && std::isfinite(sum) && std::isfinite(gamma_gradient);
    gradient[at(unit.gamma, ch)] = static_cast<T>(gamma_gradient);
    gradient[at(unit.beta, ch)] = static_cast<T>(sum);
    const double slope = frozen ? 0 : -scale * inverse * gamma_gradient / s.count;
    row(unit, kA)[ch] = scale;
    row(unit, kB)[ch] = static_cast<T>(slope);
    row(unit, kC)[ch] = frozen ? 0 : static_cast<T>(-scale * sum / s.count - slope * row(unit, kMean)[ch]);
  }
  return all_finite;
}

template class NormBank<float>;
template class NormBank<double>;

}  // namespace longtail::nn
