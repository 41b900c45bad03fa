#include "longtail/base/stop_signals.h"

#include <gtest/gtest.h>

namespace longtail::base {
namespace {

void nothing(int /*signal*/) {}

TEST(StopSignals, AreCaughtUnlessTheyWereIgnoredFromTheStart) {
  struct sigaction catcher {};
  catcher.sa_handler = nothing;
  for (const int signal : kStopSignals) {
    for (const auto inherited : {SIG_DFL, SIG_IGN}) {
      struct sigaction outside {
      }, before{}, now{}, start{};
      start.sa_handler = inherited;
      ASSERT_EQ(::sigaction(signal, &start, &outside), 0);
      catch_stop_signal(signal, catcher, &before);
      ASSERT_EQ(::sigaction(signal, &outside, &now), 0);
      EXPECT_EQ(before.sa_handler, inherited) << signal;
      const bool caught = inherited == SIG_DFL || signal == SIGTERM;
      EXPECT_EQ(now.sa_handler, caught ? catcher.sa_handler : inherited) << signal;
    }
  }
}

}  // namespace
}  // namespace longtail::base
