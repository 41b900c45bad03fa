#include "longtail/train/run_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/test_paths.h"
#include "longtail/data/testing.h"

namespace longtail::train {
namespace {

using nlohmann::json;
using testing::HasSubstr;

RunLog sample_log() {
  RunLog log;
  log.dataset = "toy";
  log.strategy = "power:q=0.25";
  log.rho = 100;
  log.seed = 42;
  log.group_sizes = {1, 1, 0};
  log.class_counts = {500, 50};
  log.class_names = {"apple", "bear"};
  log.config = {
      {"lr", "0.1"}, {"nesterov", "true"}, {"milestones", "160"}, {"model", "resnet32"}, {"seed", "42"}};
  const double none = std::nan("");
  log.train_loss = {4.0, 1.0 / 3};
  log.train_acc = {10, 20};
  log.test_acc = {60, 50};
  log.test_loss = {0.7, 0.8};
  log.head_acc = {70, 60};
  log.medium_acc = {50, 40};
  log.tail_acc = {none, none};
  log.lr_history = {0.02, 0.04};
  log.best = {0, {60, 70, 50, none, 0.7}, {70, 50}, 58.5, 60, 5, 4, 6, none, {{7, 3}, {5, 5}}};
  log.last = {1, {50, 60, 40, none, 0.8}, {60, 40}, 48.5, 50, 5, 4, 6, none, {{6, 4}, {6, 4}}};
  log.fingerprint = {"a", "b", "c", "d", "e", "onednn", "0.1.0"};
  log.finished = true;
  return log;
}

// A log as the paper's Python code writes it.
json published_log() {
  return {{"strategy", "uniform"},
          {"imbalance_ratio", 10},
          {"seed", 42},
          {"class_counts", {500, 49}},
          {"config", {{"epochs", 3}, {"lr", 0.1}, {"lr_milestones", {160, 180}}, {"seeds", {42, 123, 456}}}},
          {"train_loss", {4.0, 3.5, 3.0}},
          {"train_acc", {5.0, 10.0, 15.0}},
          {"test_acc", {6.0, 12.0, 12.0}},
          {"test_loss", {4.1, 3.6, 3.2}},
          {"head_acc", {8.0, 14.0, 13.0}},
          {"medium_acc", {4.0, 10.0, 11.0}},
          {"tail_acc", {0.0, 0.0, 0.0}},
          {"lr_history", {0.02, 0.04, 0.06}},
          {"best_acc", 12.0},
          {"final_overall_acc", 12.0},
          {"final_head_acc", 14.0},
          {"final_medium_acc", 10.0},
          {"final_tail_acc", 0.0},
          {"final_per_class_acc", {14.0, 10.0}}};
}

std::string error_of(const json& object) {
  try {
    from_json(object);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunLog, ReadsBackExactlyWhatWasWritten) {
  const data::TempFolder folder;
  RunLog log = sample_log();
  log.seconds_training = 1.5;
  write_log(folder / "log.json", log);
  const RunLog back = read_log(folder / "log.json");
  EXPECT_EQ(log_text(back), log_text(log));
  EXPECT_EQ(back.train_loss, log.train_loss);
  EXPECT_EQ(back.config, log.config);
  EXPECT_EQ(back.best.confusion, log.best.confusion);
  EXPECT_EQ(back.seconds_training, 1.5);
  EXPECT_TRUE(std::isnan(back.tail_acc[0]));
  EXPECT_TRUE(std::isnan(back.last.accuracy.tail));
}

TEST(RunLog, TextThatIsNoJsonIsRefusedByTheNameOfTheFileAndThePlace) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      log_of(text, "log.json");
    } catch (const base::DamagedFile& error) {
      return error.what();
    }
    return "";
  };
  const std::string whole = log_text(sample_log());
  EXPECT_EQ(refusal(""), "log.json is not a run log: it is empty");
  EXPECT_EQ(refusal(whole.substr(0, 100)), "log.json is not a run log: it is cut off after 100 bytes");
  EXPECT_EQ(refusal("nonsense"), "log.json is not a run log: it is not JSON from line 1, column 2 on");
  EXPECT_EQ(refusal("{\n  \"seed\": }"),
            "log.json is not a run log: it is not JSON from line 2, column 11 on");
  EXPECT_EQ(refusal("{}x"), "log.json is not a run log: it is not JSON from line 1, column 3 on");
  for (std::size_t size = 1; size + 1 < whole.size(); ++size) {
    EXPECT_EQ(refusal(whole.substr(0, size)),
              fmt::format("log.json is not a run log: it is cut off after {} bytes", size));
  }
}

TEST(RunLog, AStrategyThatIsEmptyAndGroupsThatAreNoDefinitionAreRefused) {
  json object = to_json(sample_log());
  EXPECT_EQ(error_of(object), "");
  for (const char* groups : {"auto", "field", "50,10"}) {
    object["groups"] = groups;
    EXPECT_EQ(error_of(object), "") << groups;
  }
  for (const char* groups : {"banana", "5,500", ""}) {
    object["groups"] = groups;
    EXPECT_THAT(error_of(object), HasSubstr("groups")) << groups;
  }
  json published = published_log();
  for (json* log : {&object, &published}) {
    (*log)["strategy"] = "";
    EXPECT_EQ(error_of(*log), "the key `strategy` is empty");
  }
}

TEST(RunLog, TimingsAreNotAmongTheResults) {
  RunLog log = sample_log();
  const std::string before = log_text(log);
  log.seconds_training = 99;
  EXPECT_EQ(log_text(log), before);
}

// They are no results: what is damaged is as good as not there, and never taken for a time.
TEST(RunLog, DamagedTimingsAreNoTimings) {
  const data::TempFolder folder;
  RunLog log = sample_log();
  log.seconds_training = 99;
  write_log(folder / "log.json", log);
  EXPECT_EQ(read_log(folder / "log.json").seconds_training, 99);
  for (const char* damaged : {"", "{", "[1]", "{\"seconds_training\": \"99\"}", "{\"seconds_training\": -99}",
                              "{\"seconds_training\": 1e999}", "\xff\xfe"}) {
    base::write_atomically(folder / "timings.json", std::string_view(damaged));
    EXPECT_EQ(read_log(folder / "log.json").seconds_training, 0) << damaged;
  }
}

TEST(RunLog, AnEmptyGroupIsNullInTheFile) {
  const json object = json::parse(log_text(sample_log()));
  EXPECT_TRUE(object["tail_acc"][0].is_null());
  EXPECT_TRUE(object["final_tail_acc"].is_null());
  EXPECT_TRUE(object["last"]["tail_ece"].is_null());
}

TEST(RunLog, KeepsThePapersKeysAtTheBestEpoch) {
  const json object = json::parse(log_text(sample_log()));
  EXPECT_EQ(object["best_acc"], 60);
  EXPECT_EQ(object["final_head_acc"], 70);
  EXPECT_EQ(object["final_per_class_acc"], json({70, 50}));
  EXPECT_EQ(object["last"]["head_acc"], 60);
  EXPECT_EQ(object["config"]["lr"], 0.1);
  EXPECT_EQ(object["config"]["milestones"], json({160}));
}

TEST(RunLog, ReadsAPublishedLogAndDoesNotTakeAnEmptyTailForZero) {
  const RunLog log = from_json(published_log());
  EXPECT_EQ(log.schema, 0);
  EXPECT_EQ(log.rho, 10);
  EXPECT_EQ(log.group_sizes, (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(log.best_epoch, 1);  // the first of two equal maxima
  EXPECT_EQ(log.best.accuracy.head, 14);
  EXPECT_EQ(log.best.per_class, (std::vector<double>{14, 10}));
  EXPECT_EQ(log.last.epoch, 2);
  EXPECT_EQ(log.last.accuracy.medium, 11);
  EXPECT_TRUE(std::isnan(log.tail_acc[1]));
  EXPECT_TRUE(std::isnan(log.best.accuracy.tail));
  EXPECT_TRUE(std::isnan(log.best.macro_f1));
  EXPECT_EQ(log.config.at("lr_milestones"), "160,180");
  EXPECT_TRUE(log.finished);
}

TEST(RunLog, KeepsATailOfZeroIfThereAreTailClasses) {
  json object = published_log();
  object["class_counts"] = {500, 50, 5};
  object["final_per_class_acc"] = {14.0, 10.0, 0.0};
  EXPECT_EQ(from_json(object).tail_acc[0], 0);
}

TEST(RunLog, ReadsClassCountsWrittenAsADictionary) {
  json object = published_log();
  object["class_counts"] = {{"0", 500}, {"1", 49}};
  EXPECT_EQ(from_json(object).class_counts, (std::vector<std::int64_t>{500, 49}));
}

TEST(RunLog, AnErrorNamesTheKeyThatIsMissingOrWrong) {
  const json whole = published_log();
  for (const auto& [key, value] : whole.items()) {
    if (key == "best_acc" || key == "final_tail_acc") continue;  // told by the rest, or of an empty group
    json missing = published_log();
    missing.erase(key);
    EXPECT_THAT(error_of(missing), HasSubstr("`" + key + "`"));
    json wrong = published_log();
    wrong[key] = true;
    EXPECT_THAT(error_of(wrong), HasSubstr("`" + key + "`"));
  }
  json longer = published_log();
  longer["head_acc"].push_back(1.0);
  EXPECT_THAT(error_of(longer), HasSubstr("`head_acc` has 4 epochs"));
  json beyond = published_log();
  beyond["test_acc"][0] = 101;
  EXPECT_THAT(error_of(beyond), HasSubstr("`test_acc` has 101"));
}

TEST(RunLog, EveryKeyOfOursIsNeededOrHarmless) {
  json whole = json::parse(log_text(sample_log()));
  EXPECT_EQ(whole.erase("results_sha256"), 1u);  // with it nothing at all may be missing
  for (const auto& [key, value] : whole.items()) {
    json missing = whole;
    missing.erase(key);
    if (key.starts_with("final_") || key == "best_acc") {
      EXPECT_EQ(log_text(from_json(missing)), log_text(sample_log())) << key;
    } else if (key != "schema") {
      EXPECT_THAT(error_of(missing), HasSubstr("`" + key + "`"));
    }
  }
}

// One number changed in a log that is whole otherwise; with a hash the hash finds it, without one the other
// places do.
TEST(RunLog, ADigitChangedInOnePlaceIsNotBelieved) {
  const json good = to_json(sample_log());
  ASSERT_NO_THROW(from_json(good));
  const std::vector<std::pair<const char*, json>> changes = {{"/best/overall_acc", 90},
                                                             {"/best/head_acc", 90},
                                                             {"/best/tail_acc", 1},
                                                             {"/last/overall_acc", 51},
                                                             {"/last/epoch", 0},
                                                             {"/best/epoch", 1},
                                                             {"/best_epoch", 1},
                                                             {"/test_acc/0", 61},
                                                             {"/test_acc/1", 99},
                                                             {"/best_acc", 90},
                                                             {"/final_overall_acc", 90},
                                                             {"/final_head_acc", 71},
                                                             {"/final_per_class_acc/0", 71},
                                                             {"/best/per_class_acc/1", 51},
                                                             {"/best/balanced_acc", 61},
                                                             {"/best/confusion/0/0", 8},
                                                             {"/best/confusion", {{7, 3}}},
                                                             {"/best/confusion/1", {5, 5, 0}},
                                                             {"/imbalance_ratio", 0},
                                                             {"/imbalance_ratio", -1},
                                                             {"/imbalance_ratio", 1e308},
                                                             {"/imbalance_ratio", nullptr},
                                                             {"/class_counts/0", 1000000000000000000},
                                                             {"/group_sizes/0", 7},
                                                             {"/class_names", {"apple"}},
                                                             {"/best/confusion/0/0", 3000000000}};
  for (const auto& [place, value] : changes) {
    json changed = good;
    changed[json::json_pointer(place)] = value;
    EXPECT_THROW(from_json(changed), base::Error) << place << " = " << value;
  }
}

// A list that is shorter than the run would be read past its end.
TEST(RunLog, AListThatIsThereHasEveryEpoch) {
  for (const char* key : {"balanced_acc", "selection", "val_acc"}) {
    json object = to_json(sample_log());
    object[key] = {60, 50};
    EXPECT_NO_THROW(from_json(object)) << key;
    for (const json& list : {json({60}), json({60, 50, 40})}) {
      object[key] = list;
      EXPECT_EQ(error_of(object),
                fmt::format("the key `{}` has {} epochs but `test_acc` has 2", key, list.size()));
    }
    object[key] = {60, 101};
    EXPECT_THAT(error_of(object), HasSubstr("which is no percentage")) << key;
  }
}

// A log chosen so, of as many epochs as `selection` has values.
json chosen_by(const char* what, const std::vector<double>& selection, int best) {
  RunLog log = sample_log();
  log.selected_by = what;
  log.selection = selection;
  log.best_epoch = best;
  log.best = best == 0 ? log.best : log.last;
  return json::parse(to_json(log).dump());  // as a file has it: what is not known is null
}

TEST(RunLog, TheBestEpochAgreesWithWhatChoseIt) {
  const double none = std::nan("");
  for (const char* what : {"balanced", "tail"}) {
    EXPECT_NO_THROW(from_json(chosen_by(what, {40, 50}, 1))) << what;
    EXPECT_THAT(error_of(chosen_by(what, {40, 50}, 0)),
                HasSubstr(fmt::format("`best_epoch` is 0, but epoch 1 has a higher {} accuracy", what)));
    EXPECT_NO_THROW(from_json(chosen_by(what, {50, 50}, 0))) << what;
    EXPECT_NO_THROW(from_json(chosen_by(what, {50, 50 + 1e-9}, 0))) << "the same in another order of sums";
    EXPECT_NO_THROW(from_json(chosen_by(what, {none, 50}, 0))) << "what is not known was the first";
    EXPECT_NO_THROW(from_json(chosen_by(what, {50, none}, 0))) << what;
    EXPECT_THROW(from_json(chosen_by(what, {50, none}, 1)), base::Error) << what;
    EXPECT_NO_THROW(from_json(chosen_by(what, {}, 1))) << "a log that does not tell it";
  }
  EXPECT_NO_THROW(from_json(chosen_by("last", {}, 1)));
  EXPECT_THAT(error_of(chosen_by("last", {}, 0)), HasSubstr("`selected_by` is last, and the last is 1"));
}

// One of each kind that is committed, and the paper's kind; a whole study of them is read by results_test.cc.
TEST(RunLog, TheCommittedLogsAreRead) {
  const std::string results = base::source_dir() + "/results/";
  int logs = 0;
  for (const char* folder : {"both-ways", "cifar100-lt", "engines", "remedies", "shortcut"}) {
    int of_folder = 0;
    for (const auto& entry : std::filesystem::directory_iterator(results + folder)) {
      const std::string name = entry.path().filename().string();
      const bool rebalanced = name.find("-rebalance") != std::string::npos;
      if (entry.path().extension() != ".json" || (of_folder > 2 && !rebalanced)) continue;
      EXPECT_NO_THROW(read_log(entry.path())) << entry.path();
      ++of_folder;
    }
    logs += of_folder;
  }
  EXPECT_GT(logs, 10);
  EXPECT_NO_THROW(read_log(base::source_dir() + "/longtail/train/testdata/fuzz/log/published.json"));
  EXPECT_NO_THROW(read_log(base::source_dir() + "/longtail/train/testdata/fuzz/log/validation.json"));
}

TEST(RunLog, CarriesAHashOfItsResultsThatAnyChangeBreaks) {
  const json written = json::parse(log_text(sample_log()));
  EXPECT_TRUE(from_json(written).verified);
  for (const char* place :
       {"/train_loss/0", "/test_loss/1", "/best/ece", "/best/macro_f1", "/seed", "/class_counts/1"}) {
    json changed = written;
    changed[json::json_pointer(place)] = 17;
    EXPECT_THROW(from_json(changed), base::Error) << place;
    changed.erase("results_sha256");
    EXPECT_FALSE(from_json(changed).verified) << place;
  }
  json more = written;
  more["a key of tomorrow"] = 1;
  EXPECT_THROW(from_json(more), base::Error) << "the hash covers what this program does not know, too";
}

TEST(RunLog, AFileThatIsNoLogIsRefusedByName) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("not_a_log.json." + std::to_string(::getpid()));
  for (const char* content : {"", "{", "[]", "{}", "{\"strategy\": 3}", "\x80"}) {
    base::write_atomically(path, std::string_view(content));
    try {
      read_log(path);
      FAIL() << content;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
    }
  }
}

}  // namespace
}  // namespace longtail::train
