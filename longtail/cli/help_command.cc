// longtail help: prints the help of a command, the man page or a shell completion.
#include <fmt/format.h>

#include <memory>

#include "longtail/cli/commands.h"
#include "longtail/cli/help.h"
#include "longtail/cli/manual.h"
#include "longtail/version.h"

namespace longtail::cli {
namespace {

struct HelpArguments {
  std::vector<std::string> path;
  std::string shell;
  bool man = false;
};

void run(const App& app, const HelpArguments& arguments) {
  if (arguments.man) {
    fmt::print("{}", man_page(app.describe(), kVersion));
  } else if (!arguments.shell.empty()) {
    fmt::print("{}", completion(app.describe(), arguments.shell));
  } else {
    print_help(app.describe(), arguments.path);
  }
}

}  // namespace

void add_help(App& app) {
  App* command = app.add_subcommand("help", "Explain a command");
  const auto arguments = std::make_shared<HelpArguments>();
  command->add_option("COMMAND", arguments->path,
                      "As in `longtail help study run`; without one, the list of commands");
  command->add_flag("--man", arguments->man, "Print the man page of the program, for man(1)");
  command->add_option("--completion", arguments->shell, "Print the completion script for a shell")
      ->excludes("--man")
      ->type_name("SHELL")
      ->check(IsMember({"bash", "fish"}));
  command->footer(
      "Examples:\n"
      "  longtail help study run\n"
      "  source <(longtail help --completion bash)\n"
      "  longtail help --man | man -l -");
  command->callback([&app, arguments] { run(app, *arguments); });
}

}  // namespace longtail::cli
