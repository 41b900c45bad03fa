// longtail help: the help of a command.
#include <memory>

#include "longtail/cli/commands.h"
#include "longtail/cli/help.h"

namespace longtail::cli {

void add_help(App& app) {
  App* command = app.add_subcommand("help", "Explain a command");
  const auto path = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *path, "As in `longtail help study run`; without one, the list of commands");
  command->callback([&app, path] { print_help(app.describe(), *path); });
}

}  // namespace longtail::cli
