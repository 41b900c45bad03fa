// recommend and predict as a person runs them, on a few small pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "longtail/base/file.h"
#include "longtail/base/quote.h"
#include "longtail/cli/recommend_plan.h"
#include "longtail/cli/testing.h"
#include "longtail/data/testing.h"
#include "longtail/report/live.h"
#include "longtail/train/run_log.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Noise around a colour of the class's own, in pictures of different sizes.
void write_class(const fs::path& folder, int label, int pictures, unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < pictures; ++i) {
    const int width = 20 + i % 3 * 9, height = 24 + i % 2 * 16;
    data::Bytes samples;
    for (int p = 0; p < width * height; ++p) {
      for (int c = 0; c < 3; ++c)
        samples.push_back(static_cast<std::uint8_t>(random() % 60 + (c == label % 3 ? 140 : 40)));
    }
    data::write_file(folder / (std::to_string(i) + ".png"), data::encode_png(width, height, 3, samples));
  }
}

class RecommendCommand : public testing::Test {
 protected:
  RecommendCommand() {
    write_class(folder_ / "photos/wren", 0, 40, 1);
    write_class(folder_ / "photos/tit", 1, 16, 2);
    write_class(folder_ / "photos/auk", 2, 9, 3);
  }
  std::vector<std::string> command(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"recommend",   (folder_ / "photos").string(),
                                      "--out",       (folder_ / out).string(),
                                      "--time",      "1h",
                                      "--epochs",    "1",
                                      "--model",     "resnet20",
                                      "--strategies"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // More flags, before the strategies.
  static std::vector<std::string> with(std::vector<std::string> words,
                                       const std::vector<std::string>& flags) {
    words.insert(words.begin() + 2, flags.begin(), flags.end());
    return words;
  }
  // A folder whose plan has 1 epoch.
  fs::path planned(const std::string& name, const std::vector<std::string>& texts,
                   const std::function<void(RecommendPlan&)>& change = {}) const {
    RecommendPlan plan;
    plan.pictures = (folder_ / "photos").string();
    plan.copied = true;
    plan.candidates = candidates_of(texts, plan.config);
    plan.baseline = plan.candidates[plain_uniform(plan.candidates)].series;
    plan.goal = report::Goal::kBalanced;
    plan.config.dataset = "pictures";
    plan.config.model = "resnet20";
    plan.config.batch_size = 8;
    plan.config.select = "last";
    set_epochs(plan.config, 1);
    plan.epochs_given = true;
    plan.run_seconds = 1;
    if (change) change(plan);
    write_plan(folder_ / name, plan);
    return folder_ / name;
  }
  // The same with its time used up: the command stops before it trains.
  fs::path used_up(const std::string& name, const std::vector<std::string>& texts,
                   const std::function<void(RecommendPlan&)>& change = {},
                   const char* seconds = "99999") const {
    const fs::path out = planned(name, texts, change);
    base::write_atomically(out / "recommend.seconds", std::string(seconds) + "\n");
    return out;
  }
  // What stands between the last two blank lines.
  static std::string sentence(const std::string& out) {
    const std::size_t end = out.rfind("\n\n");
    const std::size_t start = out.rfind("\n\n", end - 1);
    return out.substr(start + 2, end - start - 2);
  }

  data::TempFolder folder_;
};

TEST_F(RecommendCommand, RefusesToChooseAmongCopiesOfOneStrategyAndEndsTheSameWhenKilledTwice) {
  const std::vector<std::string> copies = {"square_root", "power:q=0.5",
                                           "deferred:first=square_root,then=square_root,at=0",
                                           "deferred:first=power(q=0.5),then=square_root,at=0"};
  const Outcome whole = run_program(command("whole", copies));
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("3 classes, 49 training images: 32 to 6 each"));
  EXPECT_THAT(whole.out, HasSubstr("16 of 65 pictures are set aside for testing"));
  EXPECT_THAT(whole.out, HasSubstr("After 3 seeds none is ruled out"));
  EXPECT_THAT(whole.out, HasSubstr("After 12 seeds none is ruled out"));
  EXPECT_THAT(whole.out, HasSubstr("since nothing can be recommended"));
  EXPECT_TRUE(fs::exists(folder_ / "whole/report/summary.md"));

  for (int kill = 0; kill < 2; ++kill) {
    const pid_t child = start_program(command("killed", copies), folder_ / "out.txt", folder_ / "err.txt");
    // In the middle of the race: when a few runs are done.
    const auto done = [&] {
      int count = 0;
      std::error_code error;
      for (const auto& entry : fs::recursive_directory_iterator(folder_ / "killed", error))
        count += entry.path().filename() == "done.json";
      return count;
    };
    while (done() < 3 + 10 * kill) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ::kill(child, SIGKILL);
    wait_for(child);
  }
  const Outcome resumed = run_program(command("killed", copies));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr("Resuming the plan"));
  EXPECT_EQ(sentence(resumed.out), sentence(whole.out));
  EXPECT_NE(sentence(whole.out), "");

  // A network comes with it.
  const Outcome said = run_program({"predict", (folder_ / "whole/network").string(),
                                    (folder_ / "photos/wren/0.png").string(), "--top", "3"});
  EXPECT_EQ(said.code, 0) << said.err;
  for (const char* name : {"wren", "tit", "auk"}) EXPECT_THAT(said.out, HasSubstr(name));
}

TEST_F(RecommendCommand, ChoosesAmongRemediesTooAndGivesTheNetworkOfTheOneItNames) {
  const Outcome outcome = run_program(command(
      "remedies", {"uniform", "uniform+logit_adjust", "uniform+ncm", "class_balanced+mixup:alpha=1"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string words = "uniform (rebalance=logit_adjust)";
  EXPECT_THAT(outcome.out, HasSubstr("under uniform, " + words +
                                     ", uniform (rebalance=ncm), class-balanced (mixup:alpha=1)."));
  const std::string summary = base::read_text(folder_ / "remedies/report/summary.md");
  EXPECT_THAT(summary, HasSubstr("| Uniform (rebalance=logit_adjust)"));
  EXPECT_THAT(summary, HasSubstr("| Class-Balanced (mixup:alpha=1)"));
  // The sentence of the report is that of the command, the candidates being in the report's order.
  const std::string said = sentence(outcome.out);
  EXPECT_NE(said, "");
  EXPECT_EQ(json::parse(run_program({"report", (folder_ / "remedies").string(), "--json", "--tables-only",
                                     "--at", "last", "--out", (folder_ / "again").string()})
                            .out)["recommendation"]["sentence"],
            said);
  // The network is a run of what was named.
  const std::string name = fs::read_symlink(folder_ / "remedies/network").filename().string();
  const bool adjusted = said.find("Use " + words) == 0;
  EXPECT_EQ(name.find("rebalancelogit_adjust") != std::string::npos, adjusted) << said << "\n" << name;
  EXPECT_EQ(run_program({"predict", (folder_ / "remedies/network").string(),
                         (folder_ / "photos/wren/0.png").string()})
                .code,
            0);
  // Without --strategies the same folder resumes with those it has.
  std::vector<std::string> again = command("remedies", {});
  again.pop_back();
  const Outcome resumed = run_program(again);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(sentence(resumed.out), said);
}

TEST_F(RecommendCommand, ARaceKeepsItsGoalAndItsBaselineSoThatWhoeverReportsSaysTheSame) {
  const std::vector<std::string> plain = command("tail", {"progressive", "class_balanced"});
  const fs::path out = folder_ / "tail";
  const Outcome first = run_program(with(plain, {"--goal", "tail"}));
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string said = sentence(first.out);
  EXPECT_NE(said, "");
  EXPECT_THAT(base::read_text(out / "report/summary.md"),
              HasSubstr("\n" + base::quote::markdown(said) + "\n"));
  EXPECT_THAT(report::LiveStudy(out).page(), HasSubstr(base::quote::html(said)));
  const auto reported = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"report",        out.string(), "--json",
                                      "--tables-only", "--out",      (folder_ / "again").string()};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  const json same = reported({});
  EXPECT_EQ(same["recommendation"]["sentence"], said);
  EXPECT_EQ(same["recommendation"]["goal"], "tail");
  EXPECT_FALSE(same["findings"].empty());
  for (const json& finding : same["findings"]) EXPECT_EQ(finding["baseline"], "progressive");

  // The goal is kept; another one is refused.
  const Outcome resumed = run_program(plain);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(sentence(resumed.out), said);
  EXPECT_EQ(reported({})["recommendation"]["sentence"], said);
  const Outcome other = run_program(with(plain, {"--goal", "overall"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("is decided by --goal tail"), HasSubstr("give another --out")));

  // A report by another goal may be asked for, and says what it is.
  const json asked = reported({"--goal", "overall"});
  EXPECT_EQ(asked["recommendation"]["goal"], "overall");
  EXPECT_THAT(
      asked["recommendation"]["sentence"].get<std::string>(),
      AllOf(HasSubstr("This is not what the race was decided by"), HasSubstr("went by tail accuracy.")));
}

TEST_F(RecommendCommand, ResumesByAnySpellingOfTheFolderAndRefusesWhatThePlanDoesNotHave) {
  const fs::path out = used_up("held", {"uniform", "progressive"});
  const auto resumes = [&](const std::string& pictures) {
    std::vector<std::string> words = command("held", {"uniform", "progressive"});
    words[1] = pictures;
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 130) << pictures << "\n" << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("Resuming the plan")) << pictures;
    EXPECT_THAT(outcome.err, HasSubstr("The time is up")) << pictures;
  };
  const std::string photos = (folder_ / "photos").string();
  resumes(photos);
  resumes(photos + "/");
  resumes((folder_ / "photos/wren/..").string());
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(why), HasSubstr("another --out")));
  };
  std::vector<std::string> words = command("held", {"uniform", "progressive"});
  words[7] = "7";
  refused(words, "holds a plan with --epochs 1, which 7 cannot change now");
  refused(command("held", {"uniform", "square_root"}), "holds an answer about");
  words = command("held", {"uniform", "progressive"});
  refused(with(words, {"--batch-size", "16"}), "--batch-size 8");
  refused(with(words, {"--goal", "worst"}), "--goal balanced");
  words[1] = (folder_ / "photos/wren").string();
  refused(words, "holds an answer about");

  // The plan of an earlier version does not say its goal: the first that is given is kept.
  json plan = json::parse(base::read_text(plan_path(out)));
  plan.erase("goal");
  plan.erase("baseline");
  base::write_atomically(plan_path(out), plan.dump());
  words = command("held", {"uniform", "progressive"});
  EXPECT_EQ(run_program(with(words, {"--goal", "worst"})).code, 130);
  plan = json::parse(base::read_text(plan_path(out)));
  EXPECT_EQ(plan["goal"], "worst");
  EXPECT_EQ(plan["baseline"], "uniform");
  refused(with(words, {"--goal", "balanced"}), "--goal worst");
}

TEST_F(RecommendCommand, RetriesAsItAdvisesFindsTheDataOfItsRunsAndNeverMixesOldPicturesWithNew) {
  std::vector<std::string> words = command("answer", {"uniform", "class_balanced"});
  words[1] = "folder:" + words[1] + "/";
  const fs::path out = folder_ / "answer";
  const auto run = [&](const std::vector<std::string>& arguments, int code) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, code) << arguments[0] << "\n" << outcome.out << outcome.err;
    return outcome;
  };
  run(words, 0);
  json plan = json::parse(base::read_text(plan_path(out)));
  EXPECT_EQ(plan["pictures"], (folder_ / "photos").string());
  EXPECT_EQ(plan["time"], 3600);
  EXPECT_TRUE(fs::exists(out / "data/pictures/train_images.npy"));
  const fs::path network = fs::canonical(out / "network");
  EXPECT_EQ(plan["data_hash"], train::read_log(network / "log.json").fingerprint.data);

  // Its runs know where their data are.
  EXPECT_THAT(run({"evaluate", (out / "network").string()}, 0).out, HasSubstr("says the same"));
  run({"rebalance", (out / "network").string(), "--method", "ncm", "--out", (folder_ / "ncm").string(),
       "--quiet"},
      0);
  EXPECT_THAT(run({"predict", out.string(), "x.png"}, 1).err,
              HasSubstr("give " + (out / "network").string()));
  data::write_file(folder_ / "photos/auk/Thumbs.db", "not a picture");
  EXPECT_THAT(
      run({"predict", (out / "network").string(), (folder_ / "photos/auk").string(), "--top", "1"}, 0).out,
      AllOf(HasSubstr("auk/8.png"), Not(HasSubstr("Thumbs"))));

  // A run that failed is tried again by the command that is advised.
  fs::remove(network / "done.json");
  base::write_atomically(network / "failed.json", R"({"reason": "a test", "host": "here", "time": 1})");
  EXPECT_THAT(run(words, 1).err, AllOf(HasSubstr("a run failed: a test"),
                                       HasSubstr("study run --out " + out.string() + " --retry-failed")));
  run({"study", "run", "--out", out.string(), "--retry-failed", "--plain"}, 0);
  run(words, 0);

  // Other pictures: another race.
  write_class(folder_ / "photos/owl", 1, 12, 4);
  words[1] = (folder_ / "photos").string();
  run(words, 0);  // about the copy still
  fs::remove(plan_path(out));
  EXPECT_THAT(run(words, 2).err, AllOf(HasSubstr("was trained on other images"),
                                       HasSubstr("remove " + (out / "runs").string())));
}

TEST_F(RecommendCommand, DataThatWereReplacedUnderTheirNameAreRefusedBeforeAnythingIsTrained) {
  const std::string store = (folder_ / "store").string();
  ASSERT_EQ(
      run_program({"data", "import", "birds", "folder:" + (folder_ / "photos").string(), "--data", store})
          .code,
      0);
  const fs::path out = planned("answer", {"uniform", "progressive"}, [&](RecommendPlan& plan) {
    plan.pictures = plan.config.dataset = "birds";
    plan.copied = false;
    plan.data_hash = "of other images";
  });
  std::vector<std::string> words = command("answer", {"uniform", "progressive"});
  words[1] = "birds";
  const Outcome outcome = run_program(with(words, {"--data", store}));
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("birds holds other images now"), HasSubstr("another --out")));
  for (const auto& entry : fs::recursive_directory_iterator(out))
    EXPECT_NE(entry.path().filename(), "log.json");
}

TEST_F(RecommendCommand, ResumesFromAnyDirectoryAndTakesNoOtherFolderOfTheSameName) {
  used_up("held", {"uniform", "progressive"});
  write_class(folder_ / "elsewhere/photos/wren", 0, 4, 1);
  const fs::path before = fs::current_path();
  const auto code_in = [&](const fs::path& directory, const std::string& pictures) {
    std::vector<std::string> words = command("held", {"uniform", "progressive"});
    words[1] = pictures;
    fs::current_path(directory);
    const Outcome outcome = run_program(words);
    fs::current_path(before);
    EXPECT_EQ(outcome.err.find("The time is up") != std::string::npos, outcome.code == 130) << outcome.err;
    return outcome.code;
  };
  EXPECT_EQ(code_in(folder_.path(), "photos"), 130);
  EXPECT_EQ(code_in(folder_ / "elsewhere", "../photos"), 130);
  EXPECT_EQ(code_in(folder_ / "elsewhere", "photos"), 2);
  fs::rename(folder_ / "photos", folder_ / "gone");  // the copy is enough
  EXPECT_EQ(code_in(folder_.path(), "photos/"), 130);
  EXPECT_EQ(code_in(folder_ / "elsewhere", "../photos"), 130);
  // The plan of an earlier version, with the path as it was written.
  json plan = json::parse(base::read_text(plan_path(folder_ / "held")));
  plan["pictures"] = "photos/";
  for (const char* key : {"copied", "data_hash", "time", "cuts"}) plan.erase(key);
  base::write_atomically(plan_path(folder_ / "held"), plan.dump());
  EXPECT_EQ(code_in(folder_.path(), "photos"), 130);
}

TEST_F(RecommendCommand, FlagsThatAreLeftOutOrSayWhatThePlanDoesAreThoseOfThePlan) {
  const auto an_hour = [](RecommendPlan& plan) { plan.seconds = 3600; };
  const fs::path out = used_up("held", {"uniform", "progressive"}, an_hour, "5000");
  const std::vector<std::string> plain = {"recommend", (folder_ / "photos").string(), "--out", out.string()};
  const auto resumes = [&](const std::vector<std::string>& flags, const std::string& time) {
    const Outcome outcome = run_program(with(plain, flags));
    EXPECT_EQ(outcome.code, 130) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("The time is up"));
    EXPECT_THAT(outcome.out, HasSubstr("At most " + time));
  };
  resumes({}, "1 h 0 min");
  resumes({"--groups", "auto", "--profile", "natural"}, "1 h 0 min");
  resumes({"--time", "80m"}, "1 h 20 min");
  resumes({}, "1 h 20 min");
  const Outcome other = run_program(with(plain, {"--groups", "paper"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("--groups auto, which paper cannot change now"));
}

TEST_F(RecommendCommand, ACandidateThatCannotHaveTheEpochsIsRefusedBeforeThereIsAPlan) {
  std::vector<std::string> words = command("dead", {"uniform", "uniform+deferred:at=5"});
  words[7] = "5";
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("changes at epoch 5, but the last of 5 epochs is 4"));
  EXPECT_FALSE(fs::exists(folder_ / "dead")) << "a refused command leaves nothing";
}

TEST_F(RecommendCommand, AGoalThatCannotBeMeasuredIsRefusedBeforeAnythingIsTrained) {
  const std::vector<int> sizes = {24, 12, 6, 2, 1};  // of the last two none is spared for testing
  for (std::size_t k = 0; k < sizes.size(); ++k)
    write_class(folder_ / ("few/" + std::to_string(k)), static_cast<int>(k), sizes[k], 7);
  std::vector<std::string> words = command("few_out", {"uniform", "progressive"});
  words[1] = (folder_ / "few").string();
  for (const char* goal : {"tail", "worst"}) {
    const Outcome outcome = run_program(with(words, {"--goal", goal}));
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("no class of the tail has test pictures"));
    EXPECT_FALSE(fs::exists(folder_ / "few_out/runs"));
  }
}

TEST_F(RecommendCommand, ImagesThatWereImportedLargerAreRacedLargerIfThereIsTime) {
  const std::string store = (folder_ / "store").string();
  ASSERT_EQ(run_program({"data", "import", "large", "folder:" + (folder_ / "photos").string(), "--image-size",
                         "64", "--data", store})
                .code,
            0);
  std::vector<std::string> words = command("large_out", {"uniform", "progressive"});
  words[1] = "large";
  const fs::path out = folder_ / "out.txt";
  const pid_t child = start_program(with(words, {"--data", store}), out, folder_ / "err.txt");
  EXPECT_TRUE(wait_until(child, [&] { return says(out, "Plan: "); }));
  kill_hits(child);
  EXPECT_THAT(base::read_text(out), HasSubstr("images of 64x64 pixels"));
}

TEST_F(RecommendCommand, TakesClassSizesFromAFileOfCounts) {
  base::write_atomically(folder_ / "counts.txt", "5\n4\n3\n");
  std::vector<std::string> words = command("counts", {"uniform", "progressive"});
  words[5] = "1s";  // not enough: it looks at the data and stops
  words[7] = "200";
  const Outcome outcome =
      run_program(with(words, {"--profile", "counts", "--counts-file", (folder_ / "counts.txt").string()}));
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 classes, 12 training images: 5 to 3 each"));
  EXPECT_THAT(run_program(with(words, {"--profile", "counts"})).err, HasSubstr("counts_file"));
}

TEST_F(RecommendCommand, SaysWhatIsMissing) {
  const auto refused = [&](std::vector<std::string> words, int code, const char* sentence) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, code) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(sentence));
  };
  std::vector<std::string> words = command("a", {"uniform", "progressive"});
  words[5] = "1s";
  words[7] = "200";
  refused(words, 2, "is not enough: 2 strategies with three seeds each");
  refused(command("a", {"uniform"}), 2, "one strategy is no choice");
  refused({"recommend", (folder_ / "fotos").string()}, 2, "there is no folder");
  refused(command("a", {"uniform", "uniform"}), 2, "has `uniform` twice");
  refused(command("a", {"uniform", "uniform+logit_ajust"}), 2, "did you mean `logit_adjust`");
  refused(command("a", {"uniform", "unifrom"}), 1, "did you mean `uniform`");
  data::write_file(folder_ / "photos/tit/x.png", "junk");
  data::write_file(folder_ / "photos/wren/y.jpg", "junk");
  refused(command("a", {"uniform", "progressive"}), 1, "2 of 67 files cannot be used");
}

TEST_F(RecommendCommand, PredictGivesTheClassesOfTestPicturesWithTheAccuracyOfTheLog) {
  write_class(folder_ / "birds/train/wren", 0, 24, 1);
  write_class(folder_ / "birds/train/tit", 1, 12, 2);
  write_class(folder_ / "birds/train/auk", 2, 8, 3);
  write_class(folder_ / "birds/test/wren", 0, 6, 4);
  write_class(folder_ / "birds/test/tit", 1, 5, 5);
  write_class(folder_ / "birds/test/auk", 2, 4, 6);
  const std::string run = (folder_ / "run").string();
  const Outcome trained = run_program({"train", "--dataset", "folder:" + (folder_ / "birds").string(),
                                       "--fit", "crop", "--epochs", "4", "--batch-size", "8", "--lr", "0.02",
                                       "--model", "resnet20", "--out", run});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("Training on 44 images of 3 classes (24 to 8 each)."));
  const train::RunLog log = train::read_log(folder_ / "run/log.json");
  EXPECT_EQ(log.groups, "auto");
  EXPECT_EQ(log.selected_by, "balanced");
  EXPECT_EQ(log.image.fit, "crop");
  fs::rename(folder_ / "birds/train", folder_ / "elsewhere");  // nothing but the run is needed

  for (const bool last : {false, true}) {
    std::vector<std::string> words = {"predict", run,     (folder_ / "birds/test").string(),
                                      "--json",  "--top", "2"};
    if (last) words.push_back("--last");
    const Outcome outcome = run_program(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json said = json::parse(outcome.out);
    ASSERT_EQ(said.size(), 15U);
    double right = 0;
    for (const json& one : said) {
      const fs::path picture = one.at("picture").get<std::string>();
      ASSERT_EQ(one.at("classes").size(), 2U);
      const double first = one["classes"][0].at("probability"), second = one["classes"][1].at("probability");
      EXPECT_GE(first, second);
      EXPECT_LE(first + second, 1.0001);
      right += one["classes"][0].at("class") == picture.parent_path().filename().string();
    }
    EXPECT_NEAR(100 * right / 15, (last ? log.last : log.best).accuracy.overall, 1e-9);
  }

  const Outcome bad = run_program(
      {"predict", run, (folder_ / "run/log.json").string(), (folder_ / "birds/test/auk/0.png").string()});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("auk/0.png"));
  EXPECT_THAT(bad.err, HasSubstr("1 of 2 pictures cannot be read"));
  EXPECT_THAT(run_program({"predict", folder_.path().string(), "x.png"}).err, HasSubstr("holds no run"));
}

TEST_F(RecommendCommand, ARatioBesideTheNaturalProfileIsAnError) {
  const Outcome outcome = run_program({"train", "--dataset", "folder:" + (folder_ / "photos").string(),
                                       "--rho", "100", "--out", (folder_ / "run").string()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("profile `natural` (the default for your own data) takes none"));
}

}  // namespace
}  // namespace longtail::cli
