#include "longtail/theory/stratified.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "longtail/sampling/strata.h"

namespace longtail::theory {
namespace {

using sampling::Strata;

// The quadratic form d' G d of the deviations d_k = N_k - b w_k, kept up to date while single d_k change.
class Form {
 public:
  Form(const Moments& moments, std::span<const int> classes) : moments_(moments) {
    inside_.resize(moments.counts.size());
    products_.resize(moments.counts.size());
    for (const int k : classes) inside_[static_cast<std::size_t>(k)] = true;
  }
  void add(int k, double change) {
    if (!inside_[static_cast<std::size_t>(k)] || change == 0) return;
    value_ += 2 * change * products_[static_cast<std::size_t>(k)] + change * change * moments_.product(k, k);
    for (int j = 0; j < moments_.classes(); ++j) {
      products_[static_cast<std::size_t>(j)] += change * moments_.product(j, k);
    }
  }
  double value() const { return value_; }

 private:
  const Moments& moments_;
  std::vector<bool> inside_;
  std::vector<double> products_;  // G d
  double value_ = 0;
};

double of_order(const Moments& moments, const Draw& draw, const Strata::Order& order,
                std::span<const int> classes) {
  // N_k changes where u passes the end of a class modulo the distance between the points.
  std::vector<std::uint64_t> changes = {0};
  for (const std::uint64_t end : order.ends) changes.push_back(end % Strata::kUnit);
  std::sort(changes.begin(), changes.end());
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  Form form(moments, classes);
  std::vector<double> held(order.classes.size());  // the deviations so far
  double sum = 0;
  for (std::size_t s = 0; s < changes.size(); ++s) {
    for (std::size_t i = 0; i < order.classes.size(); ++i) {
      const int k = order.classes[i];
      const double deviation = static_cast<double>(order.count(i, changes[s])) -
                               draw.batch * draw.weights[static_cast<std::size_t>(k)];
      form.add(k, deviation - held[i]);
      held[i] = deviation;
    }
    const std::uint64_t end = s + 1 < changes.size() ? changes[s + 1] : Strata::kUnit;
    sum += form.value() * static_cast<double>(end - changes[s]) / static_cast<double>(Strata::kUnit);
  }
  return sum;
}

}  // namespace

double stratified_between(const Moments& moments, const Draw& draw, std::span<const int> classes) {
  const double scale = 1.0 / (static_cast<double>(draw.batch) * draw.batch);
  if (classes.size() == 1) {  // in any order: floor(expected) draws or one more
    const double expected = draw.batch * draw.weights[static_cast<std::size_t>(classes[0])];
    const double rest = expected - std::floor(expected);
    return rest * (1 - rest) * moments.product(classes[0], classes[0]) * scale;
  }
  const Strata strata(draw.weights, draw.batch);
  double sum = 0;
  for (const Strata::Order& order : strata.orders()) sum += of_order(moments, draw, order, classes);
  return std::max(sum / Strata::kOrders, 0.0) * scale;
}

}  // namespace longtail::theory
