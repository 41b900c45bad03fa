// The learning rate of an epoch, as in the paper's equation: a linear warm-up, then a schedule, which is
// steps down at the milestones, a cosine, or constant. One file per schedule in train/schedule/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/spec.h"
#include "longtail/train/config.h"

namespace longtail::train {

class Schedule : public base::Chosen {
 public:
  // The learning rate of an epoch after the warm-up.
  virtual double rate(const RunConfig& config, int epoch) const = 0;
};

// An Error lists the schedules.
std::unique_ptr<Schedule> make_schedule(std::string_view text);
// "multistep | cosine | ...", for help.
std::string schedule_choices();

// `epoch` counts from 0. Empty milestones mean no step down: resolve the configuration first.
double learning_rate(const RunConfig& config, int epoch);

}  // namespace longtail::train
