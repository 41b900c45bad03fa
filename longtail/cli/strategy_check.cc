#include "longtail/cli/strategy_check.h"

#include "longtail/base/error.h"
#include "longtail/sampling/strategy.h"

namespace longtail::cli {

Check strategy_check() {
  return Check(
      [](const std::string& text) -> std::string {
        try {
          sampling::make_strategy(text);
          return "";
        } catch (const base::Error& error) {
          return error.what();
        }
      },
      "");
}

}  // namespace longtail::cli
