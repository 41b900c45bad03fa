// The check of a flag that names a sampling strategy: a sentence with "did you mean" before anything starts.
#pragma once

#include "longtail/cli/app.h"

namespace longtail::cli {

Check strategy_check();

}  // namespace longtail::cli
