#include "longtail/base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>

#include "longtail/base/cpu.h"
#include "longtail/base/error.h"
#include "longtail/base/scoped_variable.h"

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
  const auto coloured = [&](const std::optional<std::string>& term,
                            const std::optional<std::string>& no_color) {
    const ScopedVariable kind("TERM", term), refused("NO_COLOR", no_color);
    return has_colours(terminal.descriptor());
  };
  EXPECT_TRUE(coloured("xterm-256color", std::nullopt));
  EXPECT_TRUE(coloured("xterm-256color", "")) << "no-color.org: only if not empty";
  EXPECT_FALSE(coloured("xterm-256color", "1"));
  EXPECT_FALSE(coloured("dumb", std::nullopt));
  EXPECT_FALSE(coloured(std::nullopt, std::nullopt));
  const ScopedVariable kind("TERM", "xterm"), allowed("NO_COLOR", std::nullopt);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(has_colours(ends[1]));
  close(ends[0]);
  close(ends[1]);
}

TEST(Cpu, IsTheFastestUnlessAnotherIsForced) {
  const ScopedVariable none("LONGTAIL_CPU", std::nullopt);
  EXPECT_EQ(chosen_cpu(), cpus_here().front());
  EXPECT_EQ(cpus_here().back(), Cpu::kScalar);
  const ScopedVariable slowest("LONGTAIL_CPU", "scalar");
  EXPECT_EQ(chosen_cpu(), Cpu::kScalar);
  const ScopedVariable unknown("LONGTAIL_CPU", "abacus");
  EXPECT_THROW(chosen_cpu(), Error);
}

}  // namespace
}  // namespace longtail::base
