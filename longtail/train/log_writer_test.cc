#include "longtail/train/log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "longtail/base/error.h"
#include "longtail/train/metrics.h"

namespace longtail::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class LogWriting : public testing::Test {
 protected:
  ~LogWriting() override { fs::remove_all(folder_); }

  static RunLog head(const std::string& select = "") {
    RunLog log;
    log.dataset = "toy";
    log.strategy = "uniform";
    log.class_counts = {200, 50, 10};
    log.config = {{"strategy", "uniform"}, {"seed", "1"}};
    if (!select.empty()) log.config["select"] = select;
    return log;
  }
  // Right answers in percent of the classes, of which the first has ten times the test images of the others.
  static void add_epoch(LogWriter& writer, std::vector<int> right) {
    right[0] *= 10;
    writer.epoch({2.0, 50, 0.1},
                 result_of_counts(right, std::vector<int>{1000, 100, 100}, writer.groups(), 1, 0));
  }
  // What is read of two epochs: the second is worse over all, better for the mean of the classes and for the tail.
  RunLog two_epochs(const std::string& select) const {
    LogWriter writer(folder_, head(select));
    add_epoch(writer, {90, 20, 10});
    add_epoch(writer, {70, 65, 60});
    writer.finish();
    return read_log(folder_ / "log.json");
  }
  std::string refusal(const std::function<void(RunLog&)>& change) const {
    RunLog log = head();
    change(log);
    try {
      const LogWriter writer(folder_, log);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "(accepted)";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("log_writer_test." + std::to_string(::getpid()));
};

TEST_F(LogWriting, ChoosesTheBestEpochByWhatTheConfigurationSelects) {
  const RunLog overall = two_epochs("overall");
  EXPECT_EQ(overall.best_epoch, 0);
  EXPECT_EQ(overall.selected_by, "overall");
  EXPECT_THAT(overall.selection, ElementsAre());
  EXPECT_THAT(overall.balanced_acc, ElementsAre(40, 65));
  EXPECT_EQ(two_epochs("").best_epoch, 0);

  const RunLog balanced = two_epochs("balanced");
  EXPECT_LT(balanced.test_acc[1], balanced.test_acc[0]);
  EXPECT_EQ(balanced.best_epoch, 1);
  EXPECT_EQ(balanced.best.balanced, 65);
  EXPECT_EQ(balanced.selected_by, "balanced");
  EXPECT_THAT(balanced.selection, ElementsAre(40, 65));

  const RunLog tail = two_epochs("tail");
  EXPECT_EQ(tail.best_epoch, 1);
  EXPECT_THAT(tail.selection, ElementsAre(10, 60));

  const RunLog last = two_epochs("last");
  EXPECT_EQ(last.best_epoch, 1);
  EXPECT_EQ(last.selected_by, "last");
  EXPECT_THAT(last.selection, ElementsAre());
}

TEST_F(LogWriting, AStateOfBeforeTheRuleWasKeptGoesOnAsItBegan) {
  LogWriter before(folder_,
                   head());  // wrote no `balanced_acc` and chose by overall accuracy whatever was selected
  add_epoch(before, {90, 20, 10});
  RunLog old = before.log();
  old.balanced_acc.clear();
  LogWriter after(folder_, head("balanced"));
  after.restore(log_text(old));
  add_epoch(after, {70, 65, 60});
  EXPECT_EQ(after.log().best_epoch, 0);
  EXPECT_EQ(read_log(folder_ / "log.json").selected_by, "overall");
  EXPECT_THAT(after.log().balanced_acc, ElementsAre());
}

TEST_F(LogWriting, ARuleThatIsNoneOrHasNothingToLookAtIsRefused) {
  EXPECT_THAT(refusal([](RunLog& log) { log.config["select"] = "best"; }),
              HasSubstr("`select` is `best`; the best epoch is chosen by overall, balanced, tail or last"));
  EXPECT_THAT(refusal([](RunLog& log) {
                log.config["select"] = "tail";
                log.class_counts = {200, 50, 0};
              }),
              HasSubstr("no class of the tail has images"));
  LogWriter writer(folder_, head("tail"));
  const FullResult untested =
      result_of_counts(std::vector<int>{1, 1, 0}, std::vector<int>{2, 2, 0}, writer.groups(), 1, 0);
  EXPECT_THROW(writer.epoch({2.0, 50, 0.1}, untested), base::Error);
  EXPECT_EQ(writer.epochs(), 0);
}

TEST_F(LogWriting, RefusesAtOnceWhatNoReaderWouldTake) {
  EXPECT_EQ(refusal([](RunLog&) {}), "(accepted)");
  EXPECT_THAT(refusal([](RunLog& log) { log.dataset = "a\nb"; }),
              HasSubstr("the key `dataset` has a control character"));
  EXPECT_THAT(refusal([](RunLog& log) {
                log.class_names = {"a", "b\x1b", "c"};
              }),
              HasSubstr("`class_names`"));
  EXPECT_THAT(refusal([](RunLog& log) { log.config["note"] = "a\tb"; }), HasSubstr("`config.note`"));
  EXPECT_THAT(refusal([](RunLog& log) { log.config["no\nte"] = "a"; }), HasSubstr("a key of `config`"));
  EXPECT_THAT(refusal([](RunLog& log) { log.dataset = "\xff"; }), HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal([](RunLog& log) { log.fingerprint.init = "\n"; }), HasSubstr("`init`"));
  EXPECT_THAT(refusal([](RunLog& log) { log.rho = 0.5; }), HasSubstr("`rho` is 0.5"));
  EXPECT_THAT(refusal([](RunLog& log) { log.rho = -3; }), HasSubstr("`rho` is -3"));
  EXPECT_THAT(refusal([](RunLog& log) { log.class_counts[0] = std::int64_t{1} << 50; }),
              HasSubstr("nobody could read the log"));
}

}  // namespace
}  // namespace longtail::train
