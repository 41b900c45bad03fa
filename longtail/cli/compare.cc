// longtail compare: two or more single runs side by side, in the terminal.
#include <fmt/format.h>

#include <memory>

#include "longtail/cli/commands.h"
#include "longtail/report/compare.h"

namespace longtail::cli {

void add_compare(App& app) {
  auto runs = std::make_shared<std::vector<std::string>>();
  App* command = app.add_subcommand("compare", "Put single runs side by side in the terminal");
  command
      ->add_option("RUN", *runs,
                   "Run folders (with log.json) or logs; the others are compared with the first.")
      ->required()
      ->expected(2, 64)
      ->check(ExistingPath);
  command->footer("Example:\n  longtail compare study/runs/uniform-* study/runs/progressive-*");
  command->callback([runs] { fmt::print("{}", report::compare_runs({runs->begin(), runs->end()})); });
}

}  // namespace longtail::cli
