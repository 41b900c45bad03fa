#include "longtail/train/schedule.h"

#include "longtail/train/schedule/kind.h"

namespace longtail::train {
namespace {

const base::Family<Schedule()>& family() {
  static const base::Family<Schedule()> all("schedule", {multistep(), cosine(), constant()});
  return all;
}

}  // namespace

std::unique_ptr<Schedule> make_schedule(std::string_view text) { return family().make(text); }

std::string schedule_choices() { return family().choices(); }

double learning_rate(const RunConfig& config, int epoch) {
  if (epoch < config.warmup_epochs) return config.lr * (epoch + 1) / config.warmup_epochs;
  return make_schedule(config.schedule)->rate(config, epoch);
}

}  // namespace longtail::train
