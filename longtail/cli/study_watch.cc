// longtail study watch: shows a running study, whichever process or machine runs it. Writes nothing.
#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <csignal>

#include "longtail/base/loopback.h"
#include "longtail/cli/interrupt.h"
#include "longtail/cli/study.h"
#include "longtail/report/live.h"
#include "longtail/study/view.h"

namespace longtail::cli {
namespace {

using std::chrono::milliseconds;

struct WatchFlags {
  std::string folder;
  bool serve = false;
  int port = 8765;
};

// Serves exactly three resources; a request path never becomes a file path.
base::HttpAnswer answer(report::LiveStudy& study, const std::string& path) {
  if (path == "/") return {200, "text/html; charset=utf-8", study.page()};
  if (path == "/state") return {200, "application/json", study.state()};
  if (path == "/events") return {200, "text/event-stream", "", true};
  return {404, "text/plain; charset=utf-8", "there is only the page, /\n"};
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void watch(const WatchFlags& flags) {
  catch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);
  report::LiveStudy study(flags.folder);
  if (!flags.serve) {
    std::string before;
    while (!interrupted()) {
      if (study.look() || before.empty()) {
        if (const std::string now = study.words(); now != before)
          say(study::clock_time() + "  " + (before = now));
      }
      ::poll(nullptr, 0, 500);
    }
    return;
  }
  base::LoopbackServer server(flags.port, [&](const std::string& path) { return answer(study, path); });
  say(fmt::format("{}  {}: {}", study::clock_time(), flags.folder, study.words()));
  say(fmt::format("The page is at http://127.0.0.1:{}/ on this machine and nowhere else, until Ctrl-C.",
                  server.port()));
  say(fmt::format("From another: ssh -L {0}:127.0.0.1:{0} THIS-MACHINE, then the same address there.",
                  server.port()));
  while (!interrupted()) {
    server.serve(milliseconds(500));
    if (study.look()) server.send_event("change", fmt::format("{}", study.version()));
  }
}

}  // namespace

void add_study_watch(App& app) {
  App* command =
      app.add_subcommand("watch", "Look on while a study runs; with --serve as a page in a browser");
  const auto flags = std::make_shared<WatchFlags>();
  command->add_option("DIR", flags->folder, "Folder of the study")->required();
  command->add_flag(
      "--serve", flags->serve,
      "Serve the report's page on 127.0.0.1: it shows the runs under way and changes as epochs finish.\n"
      "Read-only, no other file can be reached, gone with this process.");
  command->add_option("--port", flags->port, "With --serve: the port; 0 takes a free one")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  longtail study watch out/paper                    a line when something changes, until Ctrl-C\n"
      "  longtail study watch out/paper --serve            the page at http://127.0.0.1:8765/\n"
      "  ssh -L 8765:127.0.0.1:8765 server                 the same page on another machine or a phone");
  command->callback([flags] { watch(*flags); });
}

}  // namespace longtail::cli
