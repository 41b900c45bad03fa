// `longtail study watch --serve` as a person has it: a study of two tiny runs, watched in a browser to the
// end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <regex>
#include <thread>
#include <utility>

#include "longtail/base/file.h"
#include "longtail/cli/testing.h"
#include "longtail/cli/testing_tiny_data.h"
#include "webdriver.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using longtail::test::Browser;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class Live : public testing::Test {
 protected:
  void SetUp() override {
    const auto driver = longtail::test::find_program("chromedriver"),
               chromium = longtail::test::find_program("chromium");
    if (!driver || !chromium)
      GTEST_SKIP() << "chromium or chromedriver is not installed; scripts/setup installs them";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "data");
    write_tiny_data(folder_ / "data", "train", 160, 1);
    write_tiny_data(folder_ / "data", "t10k", 40, 2);
    base::write_atomically(
        folder_ / "tiny.toml",
        "name = \"two tiny runs\"\nabout = \"Watched.\"\n[data]\ndataset = \"idx:" +
            (folder_ / "data").string() +
            "\"\nprofile = \"exp\"\nn_max = 40\nrho = 8\ngroups = \"30,15\"\n[model]\nmodel = "
            "\"resnet20\"\n[train]\nbatch_size = 16\nwarmup_epochs = 1\nepochs = 6\n[grid]\nseed = "
            "[1]\nstrategy = [\"uniform\", \"progressive\"]\n");
    browser_ = std::make_unique<Browser>(*driver, *chromium);
  }
  void TearDown() override {
    browser_.reset();
    if (server_ > 0) kill_hits(server_);
    if (study_ > 0) kill_hits(study_);
    fs::remove_all(folder_);
  }
  void start_study() {
    study_ = start_program({"study", "run", (folder_ / "tiny.toml").string(), "--out", study().string()},
                           folder_ / "study.txt", folder_ / "study.err");
    EXPECT_TRUE(wait_until(study_, [&] { return fs::exists(study() / "study.json"); })) << "the study began";
  }
  void start_server() {
    server_ = start_program({"study", "watch", study().string(), "--serve", "--port", "0"},
                            folder_ / "watch.txt", folder_ / "watch.err");
    EXPECT_TRUE(wait_until(server_, [&] { return says(folder_ / "watch.txt", "nowhere else"); }))
        << base::read_text(folder_ / "watch.err");
    std::smatch match;
    const std::string words = base::read_text(folder_ / "watch.txt");
    ASSERT_TRUE(std::regex_search(words, match, std::regex("http://127\\.0\\.0\\.1:[0-9]+/"))) << words;
    address_ = match[0];
  }
  // Asks the page until it says so, at most two minutes.
  bool eventually(const std::string& script) {
    for (int i = 0; i < 600; ++i) {
      if (browser_->run("return !!(" + script + ")").get<bool>()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return false;
  }
  std::vector<std::string> complaints() {
    std::vector<std::string> all;
    for (const json& entry : browser_->console()) {
      if (entry["level"] != "DEBUG" && entry["level"] != "INFO") all.push_back(entry["message"]);
    }
    return all;
  }
  fs::path study() const { return folder_ / "study"; }

  fs::path folder_ = fs::temp_directory_path() / ("longtail-live-" + std::to_string(::getpid()));
  pid_t study_ = 0, server_ = 0;
  std::string address_;
  std::unique_ptr<Browser> browser_;
};

TEST_F(Live, AStudyOfTwoRunsIsWatchedToItsEnd) {
  start_study();
  start_server();
  browser_->resize(1440, 900);
  browser_->open(address_);
  EXPECT_EQ(browser_->run("return document.querySelector('.kicker').textContent"), "Longtail study, live");
  // Curves come while a run is under way; no number is made of it.
  EXPECT_TRUE(eventually("longtail.data.runs.length > 0"));
  EXPECT_TRUE(eventually("document.querySelectorAll('tr[data-status=done]').length == 2"));
  EXPECT_TRUE(eventually("longtail.data.runs.filter(r => !r.under_way).length == 2"));
  EXPECT_EQ(wait_for(std::exchange(study_, 0)), 0) << base::read_text(folder_ / "study.err");
  EXPECT_TRUE(eventually("document.getElementById('live-counts').textContent == '2 of 2 runs done'"));
  EXPECT_THAT(browser_->run("return document.querySelector('h1').textContent").get<std::string>(),
              StartsWith("two tiny runs"));
  EXPECT_EQ(browser_->run("return longtail.data.runs.map(r => r.curves.test_acc.length)"), json({6, 6}));
  EXPECT_GT(browser_->run("return longtail.charts.curves.data.datasets.length").get<int>(), 0);
  EXPECT_THAT(complaints(), testing::IsEmpty());
  for (const int width : {390, 800, 1440}) {
    browser_->resize(width, 900);
    // The charts follow the width after the page does, in a frame of their own.
    EXPECT_TRUE(eventually("document.documentElement.scrollWidth <= " + std::to_string(width)))
        << browser_->run("return document.documentElement.scrollWidth") << " of " << width;
    if (const char* shots = std::getenv("LONGTAIL_SHOTS"))
      browser_->screenshot(fs::path(shots) / ("live_" + std::to_string(width) + ".png"));
  }
  ::kill(server_, SIGTERM);
  EXPECT_EQ(wait_for(std::exchange(server_, 0)), 0);
  EXPECT_TRUE(eventually("document.getElementById('live-status').classList.contains('lost')"))
      << "a page whose program has ended says so";
}

TEST_F(Live, AnOpenPageTakesNewsInWithoutBeingLoadedAgain) {
  ASSERT_EQ(run_program({"study", "run", (folder_ / "tiny.toml").string(), "--out", study().string()}).code,
            0);
  fs::path run;
  for (const auto& entry : fs::directory_iterator(study() / "runs")) {
    if (entry.path().filename().string().starts_with("progressive")) run = entry.path();
  }
  // Its record gone, it is a run that was interrupted.
  fs::remove(run / "done.json");
  start_server();
  browser_->open(address_);
  EXPECT_TRUE(eventually("document.getElementById('live-status').textContent.startsWith('Live')"));
  browser_->run("window.mark = 1; document.querySelector('#pick-series button').click()");
  const std::string before = browser_->run("return document.getElementById('live-counts').textContent");
  EXPECT_THAT(before, HasSubstr("1 of 2 runs done"));
  const int version = browser_->run("return longtail.data.version");
  base::write_atomically(
      run / "failed.json",
      std::string_view(R"({"reason": "the <b>cat</b> sat on it", "host": "x", "time": 1})"));
  EXPECT_TRUE(eventually("longtail.data.version > " + std::to_string(version)));
  EXPECT_TRUE(eventually("document.getElementById('live-counts').textContent.includes('1 failed')"));
  EXPECT_EQ(browser_->run("return window.mark"), 1) << "the page was not loaded again";
  EXPECT_EQ(browser_->run("return longtail.state.series.size"), 1) << "and shows what it showed";
  EXPECT_EQ(browser_->run("return document.querySelectorAll('#progress b').length"), 0);
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(Live, NothingButThePageCanBeReached) {
  start_study();
  start_server();
  browser_->open(address_);
  for (const char* path : {"study.json", "runs/", "../study.json", "%2e%2e/study.json", "etc/passwd",
                           "..%2f..%2fetc/passwd", "index.html"}) {
    EXPECT_EQ(browser_->run(std::string("return fetch('/' + '") + path + "').then(a => a.status)"), 404)
        << path;
  }
  EXPECT_EQ(browser_->run("return fetch('/state', {method: 'POST'}).then(a => a.status)"), 405);
}

TEST_F(Live, AFolderThatIsNoStudyIsASentence) {
  const Outcome outcome = run_program({"study", "watch", folder_.string(), "--serve"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("is not the folder of a study"));
}

}  // namespace
}  // namespace longtail::cli
