// Repeat-factor sampling (Gupta et al., 2019, LVIS): images of a class rarer than a threshold are repeated
// r_k = max(1, sqrt(threshold / f_k)) times, f_k = n_k / n, so P(k) is proportional to n_k r_k.
#include <algorithm>
#include <cmath>

#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct Config {
  double threshold = 0.001;
};

class RepeatFactor final : public Named<Config> {
 public:
  using Named::Named;
  std::vector<double> probabilities(std::span<const std::int64_t> counts, const Situation&) const override {
    const auto total = static_cast<double>(images_of(counts));
    return proportional(counts, [total, threshold = config_.threshold](double n) {
      return n * std::max(1.0, std::sqrt(threshold / (n / total)));
    });
  }
};

}  // namespace

Kind repeat_factor() {
  base::ParamTable<Config> table;
  table.add("threshold", &Config::threshold, "Share of the images below which a class is repeated.").above(0);
  return kind_of<RepeatFactor>(
      "repeat_factor",
      "P(k) proportional to n_k max(1, sqrt(threshold / (n_k / n))): only classes below the threshold gain.",
      table);
}

}  // namespace longtail::sampling
