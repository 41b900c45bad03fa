// Fetching and importing, against a server on loopback that also cuts connections and sends wrong bytes.
#include "longtail/data/install.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <map>

#include "longtail/base/hash.h"
#include "longtail/data/registry.h"
#include "longtail/data/testing.h"
#include "longtail/data/testing_server.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Reply = LoopbackServer::Reply;
using Request = LoopbackServer::Request;

std::string md5_of(std::string_view text) {
  return base::md5(std::as_bytes(std::span(text.data(), text.size())));
}

// A published data set of our own making: CIFAR-100's form, 3 classes, 4 training and 2 test images of each.
struct Install : testing::Test {
  TempFolder source;
  TempFolder cache;
  std::string archive;
  PublishedData published;
  DownloadOptions options;

  Install() {
    const fs::path path = write_tiny_cifar100(source.path(), 3, 4, 2);
    std::vector<ArchiveItem> items;
    for (const char* name : {"train", "test", "meta"}) {
      items.push_back({std::string("cifar-100-python/") + name, base::read_text(path / name), "", ""});
    }
    write_tar_gz(source / "tiny.tar.gz", items);
    archive = base::read_text(source / "tiny.tar.gz");
    published.name = "tiny";
    published.remote = {{"tiny.tar.gz", archive.size(), md5_of(archive)}};
    published.places = {"cifar-100-python", "."};
    published.train_counts = {4, 4, 4};
    published.test_counts = {2, 2, 2};
    published.hash = load_dataset("cifar:" + path.string()).hash;
    options.pause = std::chrono::milliseconds(1);
    options.timeout = std::chrono::seconds(20);
  }

  std::string fetch_error(const LoopbackServer& server) {
    return error_of([&] { fetch_data(published, cache.path(), server.url(), options); });
  }
  void expect_installed() {
    EXPECT_THAT(contents(cache.path()), ElementsAre("cifar-100-python", "cifar-100-python/meta",
                                                    "cifar-100-python/test", "cifar-100-python/train"));
    EXPECT_EQ(load_published(published, cache / "cifar-100-python").hash, published.hash);
  }
};

TEST_F(Install, FetchDownloadsChecksAndUnpacks) {
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  std::uint64_t last = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    last = done;
    EXPECT_EQ(total, archive.size());
  };
  EXPECT_EQ(fetch_data(published, cache.path(), server.url(), options), cache / "cifar-100-python");
  EXPECT_EQ(last, archive.size());
  EXPECT_EQ(server.requests().at(0).path, "/tiny.tar.gz");
  expect_installed();
}

TEST_F(Install, AUrlWithoutASlashAtItsEndIsTheArchiveItself) {
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  fetch_data(published, cache.path(), server.url("/mirror/other-name.tgz"), options);
  EXPECT_EQ(server.requests().at(0).path, "/mirror/other-name.tgz");
  expect_installed();
}

TEST_F(Install, ACutConnectionIsTakenUpWhereItBroke) {
  const std::size_t third = archive.size() / 3;
  LoopbackServer server([&](const Request& request) {
    return Reply{200, archive, true, request.number < 2 ? third : ~0U};
  });
  std::vector<std::string> remarks;
  options.remark = [&](const std::string& sentence) { remarks.push_back(sentence); };
  fetch_data(published, cache.path(), server.url(), options);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_FALSE(requests[0].ranged);
  EXPECT_EQ(requests[1].from, third);
  EXPECT_EQ(requests[2].from, 2 * third);
  EXPECT_EQ(remarks.size(), 2U);
  expect_installed();
}

TEST_F(Install, AServerThatKeepsCuttingLeavesAPartThatALaterFetchGoesOnFrom) {
  const std::size_t half = archive.size() / 2;
  {
    LoopbackServer server([&](const Request& request) {
      return Reply{200, archive, true, request.ranged ? 0 : half};
    });
    options.tries = 3;
    EXPECT_THAT(fetch_error(server),
                AllOf(HasSubstr(fmt::format("{} of {} bytes are kept", half, archive.size())),
                      HasSubstr("the same command resumes from there")));
    EXPECT_THAT(contents(cache.path()), ElementsAre(".tiny.tiny.tar.gz.part"));
  }
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  fetch_data(published, cache.path(), server.url(), options);
  EXPECT_EQ(server.requests().at(0).from, half);
  expect_installed();
}

TEST_F(Install, AServerThatCannotGoOnInTheMiddleIsAskedForTheWhole) {
  write_file(cache / ".tiny.tiny.tar.gz.part", archive.substr(0, 100));
  LoopbackServer server([&](const Request&) { return Reply{200, archive, false}; });
  fetch_data(published, cache.path(), server.url(), options);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_TRUE(requests[0].ranged);
  EXPECT_FALSE(requests[1].ranged);
  expect_installed();
}

TEST_F(Install, AServerThatCannotResumeAndKeepsCuttingIsGivenUp) {
  const std::size_t third = archive.size() / 3;
  LoopbackServer server([&](const Request&) { return Reply{200, archive, false, third}; });
  options.tries = 3;
  EXPECT_THAT(fetch_error(server), HasSubstr("cannot download"));
  EXPECT_LE(server.requests().size(), 2U * 3);
}

TEST_F(Install, AFolderWithAnythingElseInItIsNotReplaced) {
  write_file(cache / "cifar-100-python/thesis.tex", "years of work");
  const auto before = contents(cache.path());
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  EXPECT_THAT(fetch_error(server), HasSubstr("holds `thesis.tex`, which is not part of the data"));
  EXPECT_EQ(server.requests().size(), 0U);
  EXPECT_THAT(error_of([&] { import_published(published, source.path(), cache.path()); }),
              HasSubstr("so it is not replaced"));
  EXPECT_EQ(contents(cache.path()), before);
}

TEST_F(Install, WrongBytesAreAChecksumErrorAndNothingIsLeft) {
  std::string wrong = archive;
  wrong[wrong.size() / 2] ^= 1;
  LoopbackServer server([&](const Request&) { return Reply{200, wrong}; });
  EXPECT_THAT(fetch_error(server), AllOf(HasSubstr("has the MD5 checksum " + md5_of(wrong)),
                                         HasSubstr(md5_of(archive)), HasSubstr("nothing was kept")));
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(Install, AWrongSizeIsAnErrorAndNothingIsLeft) {
  LoopbackServer shorter([&](const Request&) { return Reply{200, archive.substr(0, 200)}; });
  EXPECT_THAT(fetch_error(shorter),
              HasSubstr(fmt::format("has 200 bytes instead of the {}", archive.size())));
  LoopbackServer longer([&](const Request&) { return Reply{200, archive + "x"}; });
  EXPECT_THAT(fetch_error(longer), HasSubstr(fmt::format("is larger than the {} bytes", archive.size())));
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(Install, AMissingPageIsAnErrorAtOnceAndNothingIsLeft) {
  LoopbackServer server([&](const Request&) { return Reply{404, "gone"}; });
  EXPECT_THAT(fetch_error(server), AllOf(HasSubstr("404"), HasSubstr("try another address with --url")));
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(Install, ABusyServerIsTriedAgain) {
  LoopbackServer server([&](const Request& request) {
    return request.number < 2 ? Reply{503, ""} : Reply{200, archive};
  });
  fetch_data(published, cache.path(), server.url(), options);
  EXPECT_EQ(server.requests().size(), 3U);
  expect_installed();
}

TEST_F(Install, OnlyWebAddressesAreFetched) {
  EXPECT_THAT(error_of([&] { fetch_data(published, cache.path(), "file:///etc/passwd", options); }),
              HasSubstr("cannot download file:///etc/passwd"));
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(Install, AnInterruptedFetchKeepsItsPart) {
  LoopbackServer server([&](const Request&) { return Reply{200, archive, true, archive.size() / 2}; });
  options.stop = [&] {
    return !server.requests().empty() && fs::exists(cache / ".tiny.tiny.tar.gz.part") &&
           fs::file_size(cache / ".tiny.tiny.tar.gz.part") > 0;
  };
  EXPECT_THROW(fetch_data(published, cache.path(), server.url(), options), base::Interrupted);
  EXPECT_THAT(contents(cache.path()), ElementsAre(".tiny.tiny.tar.gz.part"));
}

TEST_F(Install, AnInterruptionWhileUnpackingKeepsTheDownload) {
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  options.stop = [&] { return fs::exists(cache / ".tiny.tiny.tar.gz"); };
  EXPECT_THROW(fetch_data(published, cache.path(), server.url(), options), base::Interrupted);
  EXPECT_THAT(contents(cache.path()), ElementsAre(".tiny.tiny.tar.gz"));
  options.stop = {};
  fetch_data(published, cache.path(), server.url(), options);
  EXPECT_EQ(server.requests().size(), 1U);
  expect_installed();
}

TEST_F(Install, AnArchiveWithTheRightChecksumButOtherDataIsRefusedAndNothingIsLeft) {
  published.hash = std::string(64, '0');
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  EXPECT_THAT(fetch_error(server), HasSubstr("this is not tiny as published: its checksum is"));
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(Install, SeveralFilesAreFetchedIntoOneFolder) {
  const auto images = [](std::uint32_t count) {
    return gzip(to_bytes(big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28) +
                         std::string(count * 784, 'x')));
  };
  const auto labels = [](const std::string& values) {
    return gzip(to_bytes(big_endian(0x801) + big_endian(static_cast<std::uint32_t>(values.size())) + values));
  };
  const std::map<std::string, Bytes> files = {
      {"train-images-idx3-ubyte.gz", images(3)},
      {"train-labels-idx1-ubyte.gz", labels(std::string("\0\1\1", 3))},
      {"t10k-images-idx3-ubyte.gz", images(2)},
      {"t10k-labels-idx1-ubyte.gz", labels(std::string("\0\1", 2))}};
  PublishedData digits;
  digits.name = "digits";
  digits.idx = true;
  digits.channels = 1;
  digits.places = {"digits", "."};
  digits.train_counts = {1, 2};
  digits.test_counts = {1, 1};
  for (const auto& [name, bytes] : files) {
    digits.remote.push_back({name, bytes.size(), base::md5(std::as_bytes(std::span(bytes)))});
  }
  LoopbackServer server([&](const Request& request) {
    const Bytes& bytes = files.at(request.path.substr(3));
    return Reply{200, std::string(bytes.begin(), bytes.end())};
  });
  EXPECT_EQ(fetch_data(digits, cache.path(), server.url("/m"), options), cache / "digits");
  EXPECT_EQ(contents(cache.path()).size(), 5U);
  EXPECT_EQ(load_published(digits, cache / "digits").train.size(), 3);
}

TEST_F(Install, ImportTakesAnArchiveOrAFolderAndLeavesTheSourceAlone) {
  import_published(published, source / "tiny.tar.gz", cache.path());
  expect_installed();
  fs::remove_all(cache / "cifar-100-python");
  import_published(published, source.path(), cache.path());
  expect_installed();
  fs::remove_all(cache / "cifar-100-python");
  import_published(published, source / "cifar-100-python", cache.path());
  expect_installed();
  EXPECT_EQ(contents(source.path()).size(), 5U);
}

TEST_F(Install, ImportingDamagedDataLeavesWhatWasThere) {
  import_published(published, source.path(), cache.path());
  write_file(source / "cifar-100-python/test", "junk");
  EXPECT_THAT(error_of([&] { import_published(published, source.path(), cache.path()); }),
              HasSubstr("not a Python pickle"));
  expect_installed();
  EXPECT_THAT(error_of([&] { import_published(published, source / "gone.tar", cache.path()); }),
              HasSubstr("there is no"));
  TempFolder empty;
  EXPECT_THAT(error_of([&] { import_published(published, empty.path(), cache.path()); }),
              HasSubstr("there is no tiny in it"));
  expect_installed();
}

TEST_F(Install, APublishedNameTakesNoDataOfYourOwnAndSaysSo) {
  EXPECT_THAT(error_of([&] { import_published(published, "folder:q", cache.path()); }),
              AllOf(HasSubstr("`tiny` is the name of published data"),
                    HasSubstr("for folder:q choose a name of your own")));
}

TEST(StagingFolder, TakesThePlaceOfWhatWasThereInOneStep) {
  const TempFolder folder;
  write_file(folder / "data/old", "1");
  write_file(folder / "a/x", "x");
  fs::create_directory(folder / "b");
  const bool can =
      ::renameat2(AT_FDCWD, (folder / "a").c_str(), AT_FDCWD, (folder / "b").c_str(), RENAME_EXCHANGE) == 0;
  if (!can) GTEST_SKIP() << "this file system cannot exchange two names";
  {
    Staging staging(folder.path(), "data");
    write_file(staging.path() / "inside/new", "2");
    staging.publish(staging.path() / "inside", folder / "data");
    EXPECT_THAT(contents(folder / "data"), ElementsAre("new"));
    EXPECT_THAT(contents(staging.path() / "inside"), ElementsAre("old"));
  }
  EXPECT_THAT(contents(folder.path()), ElementsAre("a", "b", "b/x", "data", "data/new"));
}

// A limit on the size of files stands in for a full disk: write() fails in the same way.
struct FullDisk : Install {
  rlimit before{};
  void fill(rlim_t most) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit{most, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  void TearDown() override {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, SIG_DFL);
  }
};

TEST_F(FullDisk, WhileDownloadingIsASentenceAndNothingIsLeft) {
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  fill(archive.size() / 2);
  EXPECT_THAT(fetch_error(server), AllOf(HasSubstr("cannot write"), HasSubstr("free some space")));
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(FullDisk, WhileUnpackingIsASentenceAndNothingIsLeft) {
  LoopbackServer server([&](const Request&) { return Reply{200, archive}; });
  fill(archive.size() + 1000);
  EXPECT_THAT(fetch_error(server), AllOf(HasSubstr("cannot write"), HasSubstr("free some space")));
  EXPECT_THAT(contents(cache.path()), ElementsAre());
}

TEST_F(FullDisk, WhileImportingIsASentenceAndNothingIsLeft) {
  const Dataset data = load_published(published, source / "cifar-100-python");
  fill(1000);
  for (const auto& work :
       {std::function<void()>([&] { import_published(published, source.path(), cache.path()); }),
        std::function<void()>([&] { import_own("mine", data, cache.path()); })}) {
    EXPECT_THAT(error_of(work), AllOf(HasSubstr("cannot write"), HasSubstr("free some space")));
    EXPECT_THAT(contents(cache.path()), ElementsAre());
  }
}

}  // namespace
}  // namespace longtail::data
