// The check for flags that name a sampling strategy: reports an unknown name with "did you mean" before any
// work starts.
#pragma once

#include "longtail/cli/app.h"

namespace longtail::cli {

Check strategy_check();

}  // namespace longtail::cli
