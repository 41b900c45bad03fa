#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/params.h"
#include "longtail/base/philox.h"
#include "longtail/base/start_thread.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"

namespace longtail::base {
namespace {

namespace fs = std::filesystem;

// Known answers of Random123 (kat_vectors, philox 4x32 10).
TEST(Philox, EqualsRandom123) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, ScaledDrawsStayBelowTheBoundAndCoverIt) {
  EXPECT_EQ(scale(~std::uint64_t{0}, 7), 6u);
  EXPECT_EQ(scale(0, 7), 0u);
  EXPECT_LT(unit(~std::uint64_t{0}), 1.0);
}

TEST(Hash, EqualsPublishedDigests) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string text = "abc";
  EXPECT_EQ(md5(std::as_bytes(std::span(text))), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(sha1(std::as_bytes(std::span(text))), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(Text, ListsWordsAsASentenceDoes) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b"}), "a and b");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
}

TEST(Text, TakesTheByteOrderMarkOffTheBeginningOnly) {
  EXPECT_EQ(without_mark("\xef\xbb\xbf"
                         "10\n"),
            "10\n");
  EXPECT_EQ(without_mark("10\xef\xbb\xbf"), "10\xef\xbb\xbf");
  EXPECT_EQ(without_mark("\xef\xbb"), "\xef\xbb");
  EXPECT_EQ(without_mark(""), "");
}

TEST(Text, SuggestsTheNearestKey) {
  const std::vector<std::string> keys = {"epochs", "lr", "momentum"};
  EXPECT_EQ(did_you_mean("epoch", keys), "; did you mean `epochs`?");
  EXPECT_EQ(did_you_mean("zebra", keys), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("trian", "train"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(Text, KnowsUtf8AndReadsTheRestAsLatin1) {
  for (const char* good : {"", "robin", "Zaunk\xc3\xb6nig", "\xe2\x82\xac", "\xf0\x9f\x90\xa6"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(to_utf8(good), good);
  }
  for (const char* bad :
       {"Zaunk\xf6nig", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"})
    EXPECT_FALSE(is_utf8(bad));
  EXPECT_EQ(to_utf8("Zaunk\xf6nig"), "Zaunk\xc3\xb6nig");
}

TEST(Text, ReadsNumbersWholeOrNotAtAll) {
  EXPECT_EQ(parse_integer(" 12 "), 12);
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_FALSE(parse_integer("12x"));
  EXPECT_FALSE(parse_integer("+-12"));
  EXPECT_FALSE(parse_real("+-0.5"));
  EXPECT_FALSE(parse_real("nan"));
  EXPECT_FALSE(parse_real(""));
  EXPECT_EQ(with_commas(10847), "10,847");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(duration(5025), "1 h 23 min");
}

TEST(ThreadPool, VisitsEveryIndexOnceOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      pool.run(count, [&](int index, int worker) {
        EXPECT_LT(worker, threads);
        ++seen[static_cast<std::size_t>(index)];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

// `prlimit --nproc`: as nobody, since the limit does not hold for root.
TEST(ThreadPool, IsAsLargeAsTheSystemAllowsAndDoesAllItsWork) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
    const struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_NPROC, &none);
    std::atomic<int> sum = 0;
    ThreadPool pool(8);
    pool.run(100, [&](int index, int worker) { sum += worker < pool.threads() ? index : 1000000; });
    bool told = false;
    try {
      start_thread([] {}).join();
    } catch (const StorageError& error) {
      told = std::string(error.what()).find("ulimit -u") != std::string::npos;
    }
    ::_exit(sum == 4950 && pool.threads() == 1 && told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "it was ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(File, AFifoOrADeviceIsRefusedAndNotWaitedFor) {
  const fs::path fifo = fs::path(testing::TempDir()) / "longtail_base_test_fifo";
  fs::remove(fifo);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const fs::path& path :
       {fifo, fs::path("/dev/zero"), fs::path("/dev/tty"), fs::temp_directory_path()}) {
    ::alarm(20);  // a reader that waits ends the test instead of the day
    EXPECT_THROW(read_text(path), Error) << path;
    EXPECT_THROW(read_bytes(path), Error) << path;
    ::alarm(0);
  }
  fs::remove(fifo);
}

TEST(File, WritingNeverReplacesAPipeOrALink) {
  const fs::path folder = fs::path(testing::TempDir()) / "longtail_base_test_links";
  fs::remove_all(folder);
  fs::create_directories(folder / "real");
  const fs::path fifo = folder / "fifo", link = folder / "link", target = folder / "real/target";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THROW(write_atomically(fifo, "text"), StorageError);
  EXPECT_TRUE(fs::is_fifo(fifo));
  write_atomically(target, "old");
  fs::create_symlink("real/target", link);
  write_atomically(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_text(target), "new");
  fs::remove_all(folder);
}

TEST(ThreadPool, RethrowsWhatAJobThrew) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.run(100,
                        [](int index, int) {
                          if (index == 50) fail("no");
                        }),
               Error);
  int sum = 0;
  pool.run(1, [&](int, int) { sum = 1; });
  EXPECT_EQ(sum, 1);
}

class AtomicFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("longtail_base_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(AtomicFile, ReplacesTheOldContent) {
  write_atomically(folder_ / "a", "one");
  write_atomically(folder_ / "a", "two");
  EXPECT_EQ(read_text(folder_ / "a"), "two");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, LeavesTheOldContentAndNoTemporaryWhenTheDiskIsFull) {
  write_atomically(folder_ / "a", "one");
  // A file-size limit fails a write the way a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{1024, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_atomically(folder_ / "a", std::string(100000, 'x')), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(read_text(folder_ / "a"), "one");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, NamesTheFileThatIsMissing) {
  try {
    read_text(folder_ / "nothing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("nothing: No such file"), std::string::npos) << error.what();
  }
}

struct Part {
  int depth = 32;
};
struct Config {
  int epochs = 200;
  double lr = 0.1;
  bool nesterov = true;
  std::string schedule = "multistep";
  std::vector<int> milestones = {160, 180};
  Part part;
};

ParamTable<Config> config_table() {
  ParamTable<Config> table("train");
  table.add("epochs", &Config::epochs, "Passes.").at_least(1);
  table.add("lr", &Config::lr, "Rate.").above(0);
  table.add("nesterov", &Config::nesterov, "Nesterov.");
  table.add("schedule", &Config::schedule, "Schedule.").one_of({"multistep", "cosine"});
  table.add("milestones", &Config::milestones, "Milestones.").at_least(0);
  ParamTable<Part> part("model");
  part.add("depth", &Part::depth, "Depth.").at_least(8);
  table.include(&Config::part, part);
  return table;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

TEST(Params, ReadAndPrintEveryType) {
  const auto table = config_table();
  Config config;
  table.set(config, "epochs", "20");
  table.set(config, "lr", "0.05");
  table.set(config, "nesterov", "false");
  table.set(config, "milestones", "80, 90");
  table.set(config, "depth", "56");
  EXPECT_EQ(config.epochs, 20);
  EXPECT_EQ(config.lr, 0.05);
  EXPECT_FALSE(config.nesterov);
  EXPECT_EQ(config.milestones, (std::vector<int>{80, 90}));
  EXPECT_EQ(config.part.depth, 56);
  EXPECT_EQ(table.find("milestones")->get(config), "80,90");
  EXPECT_EQ(table.find("depth")->info.section, "model");
  EXPECT_EQ(table.find("milestones")->info.initial, "160,180");
}

TEST(Params, EqualNumbersHaveOneText) {
  EXPECT_EQ(detail::print(-0.0), "0");
  EXPECT_EQ(detail::print(-0.5), "-0.5");
}

TEST(Params, RefuseWithASentenceAndLeaveTheConfigurationAlone) {
  const auto table = config_table();
  Config config;
  EXPECT_EQ(message_of([&] { table.set(config, "epoch", "3"); }),
            "unknown key `epoch`; did you mean `epochs`?");
  EXPECT_EQ(message_of([&] { table.set(config, "epochs", "0"); }), "`epochs` is `0`; it must be at least 1");
  EXPECT_EQ(message_of([&] { table.set(config, "epochs", "two"); }),
            "`epochs` is `two`; it must be a whole number");
  EXPECT_EQ(message_of([&] { table.set(config, "lr", "0"); }), "`lr` is `0`; it must be above 0");
  EXPECT_EQ(message_of([&] { table.set(config, "schedule", "cosin"); }),
            "`schedule` is `cosin`; it must be one of multistep, cosine; did you mean `cosine`?");
  EXPECT_EQ(config.epochs, 200);
}

}  // namespace
}  // namespace longtail::base
