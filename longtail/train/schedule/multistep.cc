// The paper's: a step down at each milestone.
#include "longtail/train/schedule/kind.h"

namespace longtail::train {
namespace {

class Multistep final : public Schedule {
 public:
  explicit Multistep(const base::NoParameters&) {}
  double rate(const RunConfig& config, int epoch) const override {
    double rate = config.lr;
    for (const int milestone : config.milestones) {
      if (epoch >= milestone) rate *= config.lr_decay;
    }
    return rate;
  }
};

}  // namespace

ScheduleKind multistep() {
  return base::variant<Schedule(), Multistep>("multistep", "Multiplied by lr_decay at each milestone.");
}

}  // namespace longtail::train
