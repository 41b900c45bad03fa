// The program: finds the subcommand, turns errors into sentences and exit codes (0 done, 1 failed, 2 wrong
// usage, 130 interrupted and resumable).
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/help.h"
#include "longtail/version.h"

namespace {

// Escapes the text for the terminal: an error may quote the contents of a file.
void complain(const char* sentence) {
  std::fprintf(stderr, "longtail: %s\n", longtail::base::quote::terminal(sentence).c_str());
}

int run(int argc, char** argv) {
  using namespace longtail::cli;
  App app(
      "longtail",
      "longtail: which mini-batch sampling strategy should I train with, and how sure can I be?\n"
      "Builds long-tailed subsets, trains the same network under each strategy, and writes the tables of a "
      "paper.",
      longtail::kVersion);
  app.require_subcommand(1);
  app.footer(
      "`longtail COMMAND --help` and `longtail help COMMAND` explain a command. Exit codes: 0 done, 1 "
      "failed, 2 wrong usage,\n"
      "130 interrupted (the same command again resumes).");
  // Keep in the order in which a new user needs them.
  add_recommend(app);
  add_data(app);
  add_subset(app);
  add_sample(app);
  add_init(app);
  add_train(app);
  add_rebalance(app);
  add_evaluate(app);
  add_export(app);
  add_predict(app);
  add_study(app);
  add_report(app);
  add_compare(app);
  add_theory(app);
  add_probe(app);
  add_params(app);
  add_help(app);
  if (argc < 2) {
    print_help(app.describe(), {});
    return 0;
  }
  return app.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit then gives an error to report, like a full disk
  try {
    const int code = run(argc, argv);
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      longtail::base::fail("not everything could be printed: {}", std::strerror(errno != 0 ? errno : EIO));
    }
    return code;
  } catch (const longtail::base::Interrupted& error) {
    complain(error.what());
    return 130;
  } catch (const longtail::base::UsageError& error) {
    complain(error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "longtail: not enough memory for that; close other programs, or use fewer classes or "
                 "images, a smaller batch or fewer epochs\n");
    return 1;
  } catch (const std::filesystem::filesystem_error& error) {
    complain(fmt::format("cannot use {}: {}", error.path1().string(), error.code().message()).c_str());
    return 1;
  } catch (const std::exception& error) {
    complain(error.what());
    return 1;
  }
}
