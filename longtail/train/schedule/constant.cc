// The base rate throughout.
#include "longtail/train/schedule/kind.h"

namespace longtail::train {
namespace {

class Constant final : public Schedule {
 public:
  explicit Constant(const base::NoParameters&) {}
  double rate(const RunConfig& config, int) const override { return config.lr; }
};

}  // namespace

ScheduleKind constant() { return base::variant<Schedule(), Constant>("constant", "The base rate."); }

}  // namespace longtail::train
