// The program: finds the subcommand, turns errors into sentences and exit codes (0 done, 1 failed, 2 wrong
// usage, 130 interrupted and resumable).
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/cli/commands.h"

namespace {

using longtail::base::did_you_mean;

// What CLI11 only calls "not expected": the first command or flag that does not exist, with what may have
// been meant. Empty if everything on the line exists.
std::string unknown_word(CLI::App& app, int argc, char** argv) {
  CLI::App* command = &app;
  std::string called = "longtail";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--")) {
      const std::string flag = word.substr(0, word.find('='));
      if (flag == "--" || command->get_option_no_throw(flag)) continue;
      std::vector<std::string> flags;
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
      }
      return fmt::format("`{}` has no flag `{}`{}", called, flag, did_you_mean(flag, flags));
    }
    if (word.starts_with("-") || command->get_subcommands({}).empty()) continue;
    CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (CLI::App* known : command->get_subcommands({})) {
      names.push_back(known->get_name());
      if (known->get_name() == word) next = known;
    }
    if (!next) return fmt::format("`{}` has no command `{}`{}", called, word, did_you_mean(word, names));
    command = next;
    called += " " + word;
  }
  return "";
}

int run(int argc, char** argv) {
  CLI::App app(
      "longtail: which mini-batch sampling strategy should I train with, and how sure can I be?\n"
      "Builds long-tailed subsets, trains the same network under each strategy, and writes the tables of a "
      "paper.");
  app.name("longtail");
  app.set_version_flag("--version", LONGTAIL_VERSION);
  app.require_subcommand(1);
  app.footer(
      "`longtail COMMAND --help` explains a command. Exit codes: 0 done, 1 failed, 2 wrong usage,\n"
      "130 interrupted (start again with the same command to go on).");
  using namespace longtail::cli;
  // Keep in the order of a person's first day.
  add_data(app);
  add_subset(app);
  add_sample(app);
  add_init(app);
  add_train(app);
  add_evaluate(app);
  add_export(app);
  add_study(app);
  add_report(app);
  add_compare(app);
  add_theory(app);
  add_probe(app);
  add_params(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string unknown = error.get_exit_code() == 0 ? "" : unknown_word(app, argc, argv);
    if (!unknown.empty()) longtail::base::fail<longtail::base::UsageError>("{}", unknown);
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then an error that can be told, like a full disk
  try {
    const int code = run(argc, argv);
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      longtail::base::fail("not everything could be printed: {}", std::strerror(errno != 0 ? errno : EIO));
    }
    return code;
  } catch (const longtail::base::Interrupted& error) {
    std::fprintf(stderr, "longtail: %s\n", error.what());
    return 130;
  } catch (const longtail::base::UsageError& error) {
    std::fprintf(stderr, "longtail: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "longtail: not enough memory for that; close other programs, or use fewer classes or "
                 "images, a smaller batch or fewer epochs\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "longtail: %s\n", error.what());
    return 1;
  }
}
