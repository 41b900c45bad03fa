#include "longtail/base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>

#include "longtail/base/cpu.h"
#include "longtail/base/error.h"

namespace longtail::base {
namespace {

// A terminal without anybody in front of it.
class Terminal {
 public:
  Terminal() : controller_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (controller_ >= 0 && grantpt(controller_) == 0 && unlockpt(controller_) == 0)
      terminal_ = open(ptsname(controller_), O_RDWR | O_NOCTTY);
  }
  ~Terminal() {
    if (terminal_ >= 0) close(terminal_);
    if (controller_ >= 0) close(controller_);
  }
  int descriptor() const { return terminal_; }

 private:
  int controller_ = -1, terminal_ = -1;
};

TEST(Terminal, HasColoursUnlessItHasNoneOrTheyAreRefused) {
  const Terminal terminal;
  ASSERT_GE(terminal.descriptor(), 0);
  setenv("TERM", "xterm-256color", 1);
  unsetenv("NO_COLOR");
  EXPECT_TRUE(has_colours(terminal.descriptor()));
  setenv("NO_COLOR", "", 1);  // no-color.org: only if not empty
  EXPECT_TRUE(has_colours(terminal.descriptor()));
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(has_colours(terminal.descriptor()));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(has_colours(terminal.descriptor()));
  unsetenv("TERM");
  EXPECT_FALSE(has_colours(terminal.descriptor()));
  setenv("TERM", "xterm", 1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(has_colours(ends[1]));
  close(ends[0]);
  close(ends[1]);
}

TEST(Cpu, IsTheFastestUnlessAnotherIsForced) {
  unsetenv("LONGTAIL_CPU");
  EXPECT_EQ(chosen_cpu(), cpus_here().front());
  EXPECT_EQ(cpus_here().back(), Cpu::kScalar);
  setenv("LONGTAIL_CPU", "scalar", 1);
  EXPECT_EQ(chosen_cpu(), Cpu::kScalar);
  setenv("LONGTAIL_CPU", "abacus", 1);
  EXPECT_THROW(chosen_cpu(), Error);
  unsetenv("LONGTAIL_CPU");
}

}  // namespace
}  // namespace longtail::base
