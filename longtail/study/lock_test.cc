#include "longtail/study/lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "longtail/base/error.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;

class Lock : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::temp_directory_path() / ("longtail-lock-" + std::to_string(::getpid()));
  fs::path path_ = folder_ / "lock";
};

TEST_F(Lock, IsHeldByOneAtATime) {
  EXPECT_FALSE(FileLock::is_held(path_)) << "no file, no lock";
  auto first = FileLock::try_take(path_);
  ASSERT_TRUE(first);
  EXPECT_TRUE(FileLock::is_held(path_));
  EXPECT_FALSE(FileLock::try_take(path_)) << "not even twice by one process";
  first.reset();
  EXPECT_FALSE(FileLock::is_held(path_));
  EXPECT_TRUE(FileLock::try_take(path_));
}

TEST_F(Lock, SaysWhoHasIt) {
  const auto lock = FileLock::try_take(path_);
  EXPECT_EQ(FileLock::holder(path_), host_name() + ", process " + std::to_string(::getpid()));
  // Between taking and signing, and for good on a full disk, the file is empty.
  fs::resize_file(path_, 0);
  EXPECT_EQ(FileLock::holder(path_), "another process");
}

TEST_F(Lock, IsNotDisturbedByBeingAskedAfter) {
  const auto lock = FileLock::try_take(path_);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(FileLock::is_held(path_));
  EXPECT_FALSE(FileLock::try_take(path_));
}

TEST_F(Lock, DiesWithItsProcess) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::try_take(path_);
    if (::write(ready[1], lock ? "y" : "n", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char taken = 0;
  ASSERT_EQ(::read(ready[0], &taken, 1), 1);
  EXPECT_EQ(taken, 'y');
  EXPECT_TRUE(FileLock::is_held(path_));
  EXPECT_FALSE(FileLock::try_take(path_));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(FileLock::is_held(path_));
  EXPECT_TRUE(FileLock::try_take(path_));
}

TEST_F(Lock, IsTakenOnceAmongManyProcesses) {
  constexpr int kProcesses = 8, kRounds = 15;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < kRounds; ++i) {
        const FileLock lock = FileLock::take(path_);
        // Two processes inside at once would lose a count.
        int count = 0;
        std::ifstream(folder_ / "count") >> count;
        std::ofstream(folder_ / "count") << count + 1;
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  int count = 0;
  std::ifstream(folder_ / "count") >> count;
  EXPECT_EQ(count, kProcesses * kRounds);
}

TEST_F(Lock, InAFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(FileLock::try_take(folder_ / "missing" / "lock"), base::StorageError);
}

}  // namespace
}  // namespace longtail::study
