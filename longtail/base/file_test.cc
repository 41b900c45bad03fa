#include "longtail/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "longtail/base/error.h"

namespace longtail::base {
namespace {

namespace fs = std::filesystem;

bool is_fault_of_the_place(const fs::path& path) {
  try {
    read_text(path);
  } catch (const StorageError&) {
    return true;
  } catch (const Error&) {
  }
  return false;
}

TEST(ReadText, TellsAFileThatIsNotThereFromOneThatThePlaceRefuses) {
  const fs::path folder = fs::path(testing::TempDir()) / ("longtail_file_test." + std::to_string(::getpid()));
  make_folder(folder);
  EXPECT_FALSE(is_fault_of_the_place(folder / "nothing"));
  EXPECT_FALSE(is_fault_of_the_place(folder / "nowhere" / "nothing"));
  const fs::path secret = folder / "secret";
  write_atomically(secret, std::string_view("text"));
  ASSERT_EQ(::chmod(secret.c_str(), 0), 0);
  const pid_t child = ::fork();
  if (child == 0) {  // nothing is refused to root
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
    ::_exit(is_fault_of_the_place(secret) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::remove_all(folder);
}

TEST(WriteAtomically, AFileKeepsItsModeAndANewOneHasThatOfTheUser) {
  const fs::path folder = fs::path(testing::TempDir()) / ("longtail_mode_test." + std::to_string(::getpid()));
  make_folder(folder);
  const auto mode = [&](const char* name) {
    struct stat info {};
    EXPECT_EQ(::stat((folder / name).c_str(), &info), 0);
    return info.st_mode & 0777;
  };
  write_atomically(folder / "secret", std::string_view("old"));
  ASSERT_EQ(::chmod((folder / "secret").c_str(), 0600), 0);
  write_atomically(folder / "secret", std::string_view("new"));
  EXPECT_EQ(mode("secret"), 0600U);
  write_atomically(folder / "new", std::string_view("text"));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(mode("new"), 0666U & ~mask);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace longtail::base
