#include "longtail/cli/interrupt.h"

#include <csignal>

#include "longtail/base/stop_signals.h"

namespace longtail::cli {
namespace {

volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { caught = 1; };
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : base::kStopSignals) base::catch_stop_signal(signal, action);
}

bool interrupted() { return caught != 0; }

}  // namespace longtail::cli
