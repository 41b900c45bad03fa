// Half a cosine down to 0.
#include <cmath>
#include <numbers>

#include "longtail/train/schedule/kind.h"

namespace longtail::train {
namespace {

class Cosine final : public Schedule {
 public:
  explicit Cosine(const base::NoParameters&) {}
  double rate(const RunConfig& config, int epoch) const override {
    const double done =
        static_cast<double>(epoch - config.warmup_epochs) / (config.epochs - config.warmup_epochs);
    return config.lr * (0.5 * (1 + std::cos(std::numbers::pi * done)));
  }
};

}  // namespace

ScheduleKind cosine() {
  return base::variant<Schedule(), Cosine>("cosine", "Half a cosine from the base rate down to 0.");
}

}  // namespace longtail::train
