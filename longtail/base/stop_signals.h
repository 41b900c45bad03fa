// Catches the signals that ask a program to stop, without undoing what its caller has decided: `nohup`
// ignores SIGHUP, and a shell without job control ignores SIGINT for background jobs. Both stay ignored.
#pragma once

#include <array>
#include <csignal>

namespace longtail::base {

inline constexpr std::array<int, 3> kStopSignals = {SIGINT, SIGTERM, SIGHUP};

// As sigaction(), but an ignored SIGINT or SIGHUP stays ignored. SIGTERM is always caught: a study stops its
// own workers with it. `old`, if given, gets the previous action.
inline void catch_stop_signal(int signal, const struct sigaction& action, struct sigaction* old = nullptr) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  if (old) *old = before;
  if (signal == SIGTERM || before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
}

}  // namespace longtail::base
