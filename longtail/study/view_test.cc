#include "longtail/study/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "longtail/base/error.h"
#include "longtail/study/selection.h"
#include "longtail/study/sharing.h"
#include "longtail/study/table.h"

namespace longtail::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Plan plan_of(const std::string& grid) {
  Plan plan{"test", "", "1", "simd", {}};
  plan.runs = resolve(parse_study("[grid]\n" + grid, "test.toml"), "simd");
  return plan;
}

// Of a trainer whose network is an axis.
Plan trainer_plan(const std::string& grid) {
  return plan_of(grid +
                 "\nparams.network = [\"resnet20\", \"mobilenet_v2\"]\n[trainer]\ncommand = [\"true\"]");
}

Plan paper_plan() {
  return plan_of(
      "rho = [100, 50, 10]\nseed = [42, 123, 456]\n"
      "strategy = [\"uniform\", \"class_balanced\", \"square_root\", \"progressive\"]");
}

RunState done(double overall, double head, double medium, double tail, const std::string& hash) {
  RunState state;
  state.status = Status::kDone;
  state.epoch = state.epochs = 200;
  state.best = {overall, head, medium, tail, 0};
  state.seconds = 100;
  state.fingerprint = {"data", "subset", "init", "augment", hash, "simd", "1"};
  return state;
}

Board board_of(const Plan& plan, std::size_t finished) {
  Board board;
  board.plan = plan;
  board.seats.resize(plan.runs.size());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    board.seats[i].state.epochs = 200;
    if (i < finished) board.seats[i].state = done(38.25, 67, 36, 7, plan.runs[i].hash);
  }
  return board;
}

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

TEST(View, FitsAnyTerminal) {
  Board board = board_of(paper_plan(), 20);
  board.seats[20].state.status = Status::kRunning;
  board.seats[20].ours = true;
  board.seats[20].last.images_per_second = 2345;
  board.seats[20].last.seconds_left = 1000;
  board.seats[21].state.status = Status::kFailed;
  const std::deque<std::string> messages = {"one", "two", std::string(300, 'x')};
  for (const auto& [width, height] :
       std::vector<std::pair<int, int>>{{80, 24}, {120, 40}, {40, 10}, {20, 5}}) {
    const auto lines = render(board, messages, width, height);
    EXPECT_LT(lines.size(), static_cast<std::size_t>(height));
    for (const std::string& line : lines)
      EXPECT_LT(columns(line), static_cast<std::size_t>(std::max(width, 21))) << line;
  }
}

TEST(View, ShowsWhatIsDoneRunningAndNext) {
  Board board = board_of(paper_plan(), 3);
  board.seats[3].state.status = Status::kRunning;
  board.seats[3].state.epoch = 50;
  board.seats[3].ours = true;
  const auto lines = render(board, {}, 100, 30);
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_THAT(text, HasSubstr("study test: 3 done, 1 running, 32 waiting"));
  EXPECT_THAT(text, HasSubstr("progressive-rho100-seed42"));
  EXPECT_THAT(text, HasSubstr(" 50/200"));
  EXPECT_THAT(text, HasSubstr("next: uniform-rho100-seed123"));
  EXPECT_THAT(text, HasSubstr("67.0/36.0/ 7.0"));
}

TEST(View, NamesItsColumnsAndLinesThemUp) {
  Board board = board_of(paper_plan(), 0);
  board.seats[0].state.status = Status::kRunning;
  board.seats[0].state.epoch = 3;
  board.seats[0].ours = true;
  board.seats[0].last.result = {44, 96, 36, 0, 0};
  const auto lines = render(board, {}, 80, 24);
  ASSERT_GT(lines.size(), 4U);
  EXPECT_THAT(lines[3], HasSubstr("epoch  test head/med./tail"));
  EXPECT_THAT(lines[4], HasSubstr("44.0 96.0/36.0/ 0.0"));
  // The bars are characters of three bytes, ten of them.
  EXPECT_EQ(lines[3].find("test"), lines[4].find("44.0") - 20);
}

TEST(View, ColoursChangeNothingButTheCodes) {
  Board board = board_of(paper_plan(), 3);
  board.seats[3].state.status = Status::kRunning;
  board.seats[3].state.epoch = 50;
  board.seats[3].ours = true;
  const auto plain = render(
      board, {"19:40:02  done       1/36  a: 38.3", "19:40:03  failed     2/36  b: no memory"}, 100, 40);
  const auto painted = coloured(plain);
  ASSERT_EQ(plain.size(), painted.size());
  std::size_t changed = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    std::string bare;
    for (std::size_t c = 0; c < painted[i].size(); ++c) {
      if (painted[i][c] == '\x1b') {
        c = painted[i].find('m', c);
      } else {
        bare += painted[i][c];
      }
    }
    EXPECT_EQ(bare, plain[i]);
    changed += painted[i] != plain[i];
  }
  EXPECT_GE(changed, 5U) << "heading, two bars, done, failed";
  EXPECT_THAT(painted[plain.size() - 1], HasSubstr("\x1b[31mfailed\x1b[0m"));
  EXPECT_THAT(painted[plain.size() - 2], HasSubstr("\x1b[32mdone\x1b[0m"));
}

TEST(TimeLeft, OfTheWholeStudyIsKnownFromTheFirstStepsOn) {
  Board board = board_of(paper_plan(), 0);
  Seat& seat = board.seats[0];
  seat.state.status = Status::kRunning;
  seat.ours = true;
  seat.last.epochs = 200;
  seat.last.part = 0.5;
  seat.last.seconds_left = 199.5 * 2;  // 2 s an epoch
  EXPECT_DOUBLE_EQ(seconds_left(board), 199.5 * 2 + 35 * 400);
}

TEST(TimeLeft, IsWhatTheRunsBeforeTook) {
  EXPECT_TRUE(std::isnan(seconds_left(board_of(paper_plan(), 0)))) << "nothing is known yet";
  EXPECT_DOUBLE_EQ(seconds_left(board_of(paper_plan(), 30)), 600) << "six runs of 100 s";
  Board two = board_of(paper_plan(), 30);
  two.jobs = 2;
  EXPECT_DOUBLE_EQ(seconds_left(two), 300);
}

TEST(Table, IsTheMeanOverTheSeedsDone) {
  const Plan plan = plan_of("seed = [1, 2, 3]\nstrategy = [\"uniform\", \"progressive\"]");
  std::vector<RunState> states(6);
  states[0] = done(10, 20, 30, 40, "");
  states[2] = done(20, 30, 40, std::numeric_limits<double>::quiet_NaN(), "");
  const auto lines = result_table(plan.runs, states, 80);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[2], HasSubstr("uniform"));
  EXPECT_THAT(lines[2], HasSubstr("15.0 25.0/35.0/  --"));
  EXPECT_THAT(lines[2], HasSubstr("2/3"));
}

TEST(Table, NamesWhatElseVaries) {
  EXPECT_THAT(row_labels(plan_of("val_fraction = [0.1, 0]").runs),
              ElementsAre("uniform, val_fraction 0.1", "uniform"));
  EXPECT_THAT(row_labels(plan_of("lr = [0.1, 0.2]").runs), ElementsAre("uniform, lr 0.1", "uniform, lr 0.2"));
  EXPECT_THAT(
      row_labels(
          plan_of("rebalance = [\"none\", \"crt\"]\nloss = [\"cross_entropy\", \"logit_adjusted\"]").runs),
      ElementsAre("uniform", "uniform, loss logit_adjusted", "uniform, rebalance crt",
                  "uniform, loss logit_adjusted, rebalance crt"));
}

TEST(Sharing, HoldsWhereFingerprintsAgreeWithinASeed) {
  const Plan plan = plan_of("seed = [1, 2]\nstrategy = [\"uniform\", \"progressive\"]");
  std::vector<RunState> states;
  for (const auto& run : plan.runs) {
    states.push_back(done(1, 1, 1, 1, run.hash));
    states.back().fingerprint.subset = fmt::format("subset of seed {}", run.config.seed);
  }
  EXPECT_TRUE(check_sharing(plan.runs, states).problems.empty());
  EXPECT_THAT(check_sharing(plan.runs, states).sentence(), HasSubstr("checked on 4 runs"));
  states[3].fingerprint.init = "other weights";
  const Sharing broken = check_sharing(plan.runs, states);
  ASSERT_EQ(broken.problems.size(), 1u);
  EXPECT_THAT(broken.sentence(),
              HasSubstr("NOT comparable: the initial weights of progressive-rho100-seed2"));
}

TEST(Sharing, AnotherHeadOrWidthHasOtherInitialWeights) {
  const Plan plan = plan_of("loss = [\"ldam\"]\nhead = [\"linear\", \"cosine\"]\nwidth = [1, 2]");
  std::vector<RunState> states;
  for (const auto& run : plan.runs) {
    states.push_back(done(1, 1, 1, 1, run.hash));
    states.back().fingerprint.init = fmt::format("{} {}", run.config.head, run.config.width);
  }
  EXPECT_THAT(check_sharing(plan.runs, states).problems, testing::IsEmpty());
}

TEST(Sharing, PicturesReadInAnotherWayAreOtherDataAndOfAnotherSizeAreShiftedOtherwise) {
  const Plan plan = plan_of(
      "image_size = [32, 64]\nfit = [\"stretch\", \"crop\"]\nskip_unreadable = [false, true]\n"
      "strategy = [\"uniform\", \"progressive\"]");
  std::vector<RunState> states;
  for (const auto& run : plan.runs) {
    const train::RunConfig& config = run.config;
    states.push_back(done(1, 1, 1, 1, run.hash));
    states.back().fingerprint.data =
        fmt::format("{} {} {}", config.image_size, config.fit, config.skip_unreadable);
    states.back().fingerprint.augment = fmt::format("{}", config.image_size);
  }
  EXPECT_THAT(check_sharing(plan.runs, states).problems, testing::IsEmpty());
  states[1].fingerprint.data = "other pictures";
  EXPECT_THAT(check_sharing(plan.runs, states).sentence(), HasSubstr("NOT comparable: the data of"));
}

TEST(Sharing, NamesOnlyWhatEveryLogTells) {
  const Plan plan = plan_of("strategy = [\"uniform\", \"progressive\"]");
  std::vector<RunState> states;
  for (const auto& run : plan.runs) states.push_back(done(1, 1, 1, 1, run.hash));
  states[0].fingerprint.augment = states[1].fingerprint.augment = "";
  EXPECT_EQ(check_sharing(plan.runs, states).sentence(),
            "Within each seed all strategies share subset and initial weights (checked on 2 runs). Whether "
            "the runs of a seed share augmentation is not known: not every log tells.");
  states[1].fingerprint = {"", "", "", "", plan.runs[1].hash, "trainer", "1"};
  EXPECT_EQ(
      check_sharing(plan.runs, states).sentence(),
      "Whether the runs of a seed share subset, initial weights and augmentation is not known: not every log "
      "tells.");
}

TEST(Sharing, AnotherValueOfATrainersOwnParameterMayMeanOtherWeights) {
  const Plan plan = trainer_plan("strategy = [\"uniform\", \"progressive\"]");
  std::vector<RunState> states;
  for (const auto& run : plan.runs) {
    states.push_back(done(1, 1, 1, 1, run.hash));
    states.back().fingerprint.init = "weights of " + run.trainer->params.at("network");
  }
  EXPECT_THAT(check_sharing(plan.runs, states).problems, testing::IsEmpty());
  states[1].fingerprint.init = "other weights";
  EXPECT_THAT(check_sharing(plan.runs, states).sentence(),
              HasSubstr("NOT comparable: the initial weights of"));
}

TEST(Sharing, NoticesALogOfAnotherConfiguration) {
  const Plan plan = plan_of("seed = [1]");
  const std::vector<RunState> states = {done(1, 1, 1, 1, "another hash")};
  EXPECT_THAT(check_sharing(plan.runs, states).sentence(), HasSubstr("another configuration"));
}

TEST(Selection, TakesEveryNthRunForAShard) {
  const Plan plan = plan_of("seed = [1, 2, 3, 4, 5]");
  EXPECT_THAT(select(plan, "", {}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(select(plan, "1/2", {}), ElementsAre(0, 2, 4));
  EXPECT_THAT(select(plan, "2/2", {}), ElementsAre(1, 3));
  EXPECT_THAT(select(plan, "7/9", {}), testing::IsEmpty());
  for (const char* wrong : {"0/2", "3/2", "1", "1/2/3", "a/b", "-1/2"}) {
    EXPECT_THROW(select(plan, wrong, {}), base::UsageError) << wrong;
  }
}

TEST(Selection, TakesRunsByTheBeginningOfTheirNames) {
  const Plan plan = plan_of("seed = [1, 2]\nstrategy = [\"uniform\", \"progressive\"]");
  EXPECT_THAT(select(plan, "", {"progressive"}), ElementsAre(1, 3));
  EXPECT_THAT(select(plan, "", {plan.runs[2].name}), ElementsAre(2));
  EXPECT_THROW(select(plan, "", {"uniformly"}), base::UsageError);
}

TEST(Selection, DoesNotCutANumberOfAName) {
  const Plan plan = plan_of("rho = [100, 10]\nseed = [4, 42]\nlr = [0.1, 0.15]");
  ASSERT_EQ(plan.runs.size(), 8u);
  EXPECT_THAT(select(plan, "", {"uniform-rho10"}), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(select(plan, "", {"uniform-rho100"}), ElementsAre(0, 1, 2, 3));
  EXPECT_THROW(select(plan, "", {"uniform-rho1"}), base::UsageError);
  std::vector<std::size_t> all = select(plan, "", {"uniform"});
  EXPECT_EQ(all.size(), 8u);
  for (const std::size_t i : select(plan, "", {"uniform-rho10-lr0.1"}))
    EXPECT_EQ(plan.runs[i].config.lr, 0.1) << plan.runs[i].name;
  EXPECT_EQ(select(plan, "", {"uniform-rho10-lr0.1"}).size(), 2u);
  EXPECT_THROW(select(plan, "", {"uniform-rho10-lr0"}), base::UsageError);
}

TEST(Duration, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_duration("90m"), 5400);
  EXPECT_EQ(parse_duration("2h"), 7200);
  EXPECT_EQ(parse_duration("1h30m"), 5400);
  EXPECT_EQ(parse_duration("0.5s"), 0.5);
  EXPECT_EQ(parse_duration("1d"), 86400);
  for (const char* wrong : {"", "90", "m", "5x", "-5m", "0s", "1h30"}) {
    EXPECT_THROW(parse_duration(wrong), base::UsageError) << wrong;
  }
}

TEST(Event, SurvivesItsLine) {
  Event event;
  event.kind = "epoch";
  event.text = "a \"b\"\nc";
  event.epoch = 3;
  event.epochs = 9;
  event.result = {1.5, 2, std::numeric_limits<double>::quiet_NaN(), 4, 0};
  const auto back = parse_event(to_line(event));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->text, event.text);
  EXPECT_EQ(back->epoch, 3);
  EXPECT_EQ(back->result.overall, 1.5);
  EXPECT_TRUE(std::isnan(back->result.medium));
  EXPECT_FALSE(parse_event("terminate called"));
  EXPECT_FALSE(parse_event("{\"event\": 1}"));
}

}  // namespace
}  // namespace longtail::study
