// The file of each schedule ends with one function that returns its variant; schedule.cc lists them.
#pragma once

#include "longtail/base/spec.h"
#include "longtail/train/schedule.h"

namespace longtail::train {

using ScheduleKind = base::Variant<Schedule()>;

ScheduleKind multistep();
ScheduleKind cosine();
ScheduleKind constant();

}  // namespace longtail::train
