// The plan of `longtail recommend` and its time: pure functions of what was measured.
#include "longtail/cli/recommend_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/cli/recommend_pace.h"
#include "longtail/cli/recommend_pictures.h"
#include "longtail/data/testing.h"
#include "longtail/study/grid.h"
#include "longtail/study/selection.h"

namespace longtail::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Ten minutes for four strategies, two at a time: five seeds are ten rounds, three are six.
PlanFacts facts() {
  PlanFacts facts;
  facts.candidates = {"none", "none", "none", "none"};
  facts.cpus = 2;
  facts.seconds = 600;
  facts.small_epoch = 1;
  facts.large_epoch = 1.7;
  return facts;
}

TEST(RecommendPlanTest, FiveSeedsFitEvenIfEveryRunTakesAQuarterLonger) {
  for (const double epoch : {0.2, 0.5, 1.0, 2.0}) {
    PlanFacts f = facts();
    f.small_epoch = epoch;
    f.large_epoch = 1.7 * epoch;
    const Effort effort = planned_effort(f);
    EXPECT_LE(10 * 1.25 * effort.run_seconds, f.seconds) << epoch;
    EXPECT_GE(effort.epochs, 20) << epoch;
  }
}

TEST(RecommendPlanTest, ThreeSeedsArePlannedForWhereFiveWouldLeaveFewerThanTwentyEpochs) {
  PlanFacts f = facts();
  f.small_epoch = 4;
  f.large_epoch = 7;
  const Effort effort = planned_effort(f);
  EXPECT_EQ(effort.epochs, 20);
  EXPECT_LE(6 * 1.25 * effort.run_seconds, f.seconds);
  EXPECT_GT(10 * 1.25 * effort.run_seconds, f.seconds);
  f.small_epoch = 17;
  EXPECT_THROW(planned_effort(f), base::UsageError);
}

TEST(RecommendPlanTest, ImagesAreAsLargeAsThePicturesAndTheTimeAllow) {
  PlanFacts f = facts();
  f.picture_side = 61;
  EXPECT_EQ(planned_effort(f).side, 32);  // 48 epochs already at 32x32
  f.seconds = 2 * 3600;
  f.small_epoch = 4;
  f.large_epoch = 7;
  const Effort medium = planned_effort(f);
  EXPECT_EQ(medium.side, 48);
  EXPECT_EQ(medium.model, "resnet20");
  EXPECT_NEAR(medium.run_seconds, medium.epochs * 4 * 2.25, 1e-9);
  f.picture_side = 300;
  EXPECT_EQ(planned_effort(f).side, 48);  // 64 would leave 36 epochs
  f.seconds = 4 * 3600;
  EXPECT_EQ(planned_effort(f).side, 64);
  f.picture_side = 0;
  EXPECT_EQ(planned_effort(f).side, 32);  // not pictures: as large as they are
  f.side = 96;                            // asked for
  f.picture_side = 300;
  EXPECT_EQ(planned_effort(f).side, 96);
}

TEST(RecommendPlanTest, TheTimeThatARefusalNamesIsEnoughAndNotMuchMoreThanThat) {
  // With 200 epochs of nearly equal networks the larger one is planned as soon as there is more time.
  for (const auto& [small, large, epochs] : {std::tuple(17.0, 30.0, 0), {1.0, 1.05, 200}, {90.0, 150.0, 0}}) {
    PlanFacts f = facts();
    f.small_epoch = small;
    f.large_epoch = large;
    if (epochs > 0) f.epochs = epochs;
    f.used = 45;
    std::string words;
    try {
      planned_effort(f);
    } catch (const base::UsageError& error) {
      words = error.what();
    }
    const std::size_t at = words.find("give --time ");
    ASSERT_NE(at, std::string::npos) << words;
    const double time = study::parse_duration(words.substr(at + 12, words.find(' ', at + 12) - at - 12));
    f.seconds = time - report_seconds(time) - f.used;
    EXPECT_NO_THROW(planned_effort(f)) << words;
    f.seconds = 0.88 * time - report_seconds(0.88 * time) - f.used;
    EXPECT_THROW(planned_effort(f), base::UsageError) << words;
  }
}

// One network trained for a seed, and two classifiers made from it in ten epochs of half the charge each.
TEST(RecommendPlanTest, WhatIsRebalancedIsPlannedForAsTheRaceCharges) {
  const std::vector<std::string> three = {"none", "crt", "lws"};
  EXPECT_EQ(charge(10, "none"), 10);
  EXPECT_EQ(charge(10, "crt"), 5);
  EXPECT_EQ(epochs_that_fit(100, 1, {"none"}, 1, 5), 20);
  EXPECT_EQ(epochs_that_fit(100, 1, three, 1, 5), 10);  // 5 * (10 + 5 + 5)
  EXPECT_EQ(epochs_that_fit(99, 1, three, 1, 5), 9);
  EXPECT_EQ(epochs_that_fit(49, 1, three, 1, 5), 0);  // not even what is rebalanced
  EXPECT_EQ(epochs_that_fit(1e9, 1, three, 1, 5), 200);
  EXPECT_EQ(epochs_that_fit(100, 1, {"none", "logit_adjust"}, 1, 5), 19);
  EXPECT_EQ(epochs_that_fit(100, 1, {"none", "crt:epochs=30"}, 1, 5), 5);

  PlanFacts f = facts();
  f.candidates = three;
  const double seconds = 3 * 1.25 * (5 + 5 + 5);  // three seeds of the fewest epochs
  f.seconds = seconds + 1e-6;
  EXPECT_EQ(planned_effort(f).epochs, 5);
  f.seconds = seconds - 1;
  try {
    planned_effort(f);
    FAIL() << "three seeds do not fit";
  } catch (const base::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 strategies, and 2 rebalanced from them, with three seeds each"));
  }
}

TEST(RecommendPlanTest, EveryCandidateMustBeAbleToHaveTheEpochs) {
  RecommendPlan plan;
  plan.candidates = candidates_of({"uniform", "uniform+deferred:at=10"}, plan.config);
  set_epochs(plan.config, 40);
  EXPECT_NO_THROW(check_candidates(plan));
  EXPECT_TRUE(can_have_epochs(plan, 11));
  EXPECT_FALSE(can_have_epochs(plan, 10)) << "its loss would never change";
  EXPECT_EQ(plan.config.epochs, 40);
  set_epochs(plan.config, 10);
  EXPECT_THROW(check_candidates(plan), base::UsageError);
}

TEST(RecommendPlanTest, WhatIsAskedForIsObeyed) {
  PlanFacts f = facts();
  f.epochs = 7;
  f.model = "resnet56";
  const Effort effort = planned_effort(f);
  EXPECT_EQ(effort.epochs, 7);
  EXPECT_EQ(effort.model, "resnet56");
  EXPECT_NEAR(effort.run_seconds, 7 * 1.7, 1e-9);
}

std::string refusal(const std::vector<std::string>& texts) {
  try {
    candidates_of(texts, {});
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

TEST(RecommendCandidatesTest, ARemedyFollowsAPlusAndWhatItIsMadeFromIsACandidateToo) {
  const auto all = candidates_of(
      {"progressive:gamma=2", "uniform+mixup:alpha=1+tau_norm:tau=1", "uniform+focal:gamma=2"}, {});
  EXPECT_THAT(texts_of(all), ElementsAre("progressive:gamma=2", "uniform+mixup:alpha=1",
                                         "uniform+mixup:alpha=1+tau_norm:tau=1", "uniform+focal"));
  EXPECT_THAT(words_of(all),
              ElementsAre("progressive (gamma=2)", "uniform (mixup:alpha=1)",
                          "uniform (mixup:alpha=1, rebalance=tau_norm:tau=1)", "uniform (loss=focal)"));
  EXPECT_EQ(all[2].augment, "crop_flip+mixup:alpha=1");
  EXPECT_EQ(trainings(all), 3);
  EXPECT_EQ(parent_of(all, 2), 1u);
  EXPECT_EQ(parent_of(all, 1), std::nullopt);
  EXPECT_EQ(plain_uniform(all), 0u) << "there is no plain one: the first";
  EXPECT_THAT(texts_of(candidates_of({"uniform+crt", "progressive", "uniform"}, {})),
              ElementsAre("uniform+crt", "progressive", "uniform"));
  train::RunConfig bare;
  bare.augment = "none";
  EXPECT_EQ(candidates_of({"uniform+mixup+ncm"}, bare)[1].augment, "mixup");
}

TEST(RecommendCandidatesTest, ALossThatAllHaveGoesWithoutSaying) {
  const auto all = candidates_of({"progressive", "uniform+cross_entropy+crt", "uniform"}, {});
  EXPECT_THAT(texts_of(all), ElementsAre("progressive", "uniform+crt", "uniform"));
  EXPECT_EQ(parent_of(all, 1), 2u);
  EXPECT_EQ(plain_uniform(candidates_of({"progressive", "uniform+cross_entropy"}, {})), 1u);
}

TEST(RecommendCandidatesTest, TheRowsOfARaceAreInTheOrderOfItsReport) {
  const auto all =
      in_report_order(candidates_of({"progressive", "uniform+ncm", "class_balanced", "uniform+crt"}, {}));
  std::vector<std::string> series;
  series.reserve(all.size());
  for (const Candidate& one : all) series.push_back(one.series);
  EXPECT_THAT(series, ElementsAre("uniform", "uniform (rebalance=crt)", "uniform (rebalance=ncm)",
                                  "class_balanced", "progressive"));
}

TEST(RecommendCandidatesTest, TheDefaultsTakeNoMoreTrainingThanThePapersFour) {
  const auto all = candidates_of(default_candidates(), {});
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(trainings(all), 4);
  EXPECT_EQ(all.back().words, "uniform (rebalance=logit_adjust)");
}

TEST(RecommendCandidatesTest, WhatCannotBeIsRefusedWithAWord) {
  EXPECT_THAT(refusal({"uniform", "uniform+logit_ajust"}), HasSubstr("did you mean `logit_adjust`?"));
  EXPECT_THAT(refusal({"uniform", "uniform+crop_flip"}),
              HasSubstr("`crop_flip` in `uniform+crop_flip` is no remedy"));
  EXPECT_THAT(refusal({"uniform+crt+ncm"}), HasSubstr("two remedies of a kind: `crt` and `ncm`"));
  EXPECT_THAT(refusal({"uniform+crt", "uniform+crt:epochs=10"}), HasSubstr("has `uniform+crt` twice"));
  EXPECT_THAT(refusal({"uniform", "uniform+cross_entropy"}),
              HasSubstr("has `uniform` twice (`uniform+cross_entropy` is the same)"));
  EXPECT_THAT(refusal({"uniform"}), HasSubstr("one strategy is no choice"));
  EXPECT_THAT(refusal({"uniform,progressive"}),
              HasSubstr("separated by blanks, not by commas: write `uniform progressive`"));
  EXPECT_EQ(refusal({"uniform,deferred:then=focus,at=0.5"}),
            "--strategies are separated by blanks, not by commas as in `uniform,deferred:then=focus,at=0.5`");
  EXPECT_THAT(refusal({"uniform", "stratified:of=adaptive"}), HasSubstr("`recommend` holds none out"));
}

TEST(RecommendPlanTest, EveryRunOfTheStudyIsOfOneCandidate) {
  for (const char* augment : {"crop_flip", "none"}) {
    for (const std::vector<std::string>& texts :
         {std::vector<std::string>{"uniform", "progressive"},
          {"uniform", "uniform+logit_adjust", "progressive+cutmix+focal", "square_root+mixup+ncm"}}) {
      RecommendPlan plan;
      plan.config.augment = augment;
      plan.candidates = candidates_of(texts, plan.config);
      const auto runs = study::resolve(study_of(plan, 3), "simd");
      EXPECT_EQ(runs.size(), 3 * plan.candidates.size());
      for (const Candidate& one : plan.candidates) {
        EXPECT_EQ(
            std::count_if(runs.begin(), runs.end(), [&](const auto& run) { return one.is_of(run.config); }),
            3)
            << one.text << " with " << augment;
      }
    }
  }
}

TEST(RecommendPlanTest, APlanIsReadBackAsItWasWritten) {
  const data::TempFolder folder;
  EXPECT_FALSE(read_recommend_plan(folder.path()));
  RecommendPlan plan;
  plan.pictures = "birds";
  plan.candidates = candidates_of({"uniform", "progressive", "uniform+logit_adjust"}, plan.config);
  plan.config.image_size = 48;
  set_epochs(plan.config, 35);
  plan.jobs = 2;
  plan.run_seconds = 12.5;
  plan.picture_side = 61;
  plan.epochs_given = true;
  plan.goal = report::Goal::kWorst;
  plan.baseline = "progressive";
  plan.copied = true;
  plan.data_hash = "abc";
  plan.seconds = 5400;
  plan.cuts = 2;
  plan.config.data = "/there/answer/data";
  plan.config.subset.profile = "counts";
  const std::string counts = (folder.path() / "counts.txt").string();
  base::write_atomically(counts, std::string_view("5\n4\n"));
  plan.config.subset.counts_file = counts;
  write_plan(folder.path(), plan);
  const auto held = read_recommend_plan(folder.path());
  ASSERT_TRUE(held);
  EXPECT_EQ(held->config.image_size, 48);
  EXPECT_EQ(held->config.epochs, 35);
  EXPECT_EQ(held->config.warmup_epochs, 3);
  EXPECT_EQ(texts_of(held->candidates), texts_of(plan.candidates));
  EXPECT_EQ(held->picture_side, 61);
  EXPECT_TRUE(held->epochs_given);
  EXPECT_EQ(held->goal, report::Goal::kWorst);
  EXPECT_EQ(held->baseline, "progressive");
  EXPECT_TRUE(held->copied);
  EXPECT_EQ(held->data_hash, "abc");
  EXPECT_EQ(held->seconds, 5400);
  EXPECT_EQ(held->cuts, 2);
  for (const study::PlannedRun& run : study::resolve(study_of(*held, 3), "simd")) {
    EXPECT_EQ(run.config.subset.counts_file, counts);
    EXPECT_EQ(run.config.data, "/there/answer/data");
  }
  EXPECT_EQ(study_of(*held, 3).settings.size(), study_of(plan, 3).settings.size());
}

TEST(RecommendPlanTest, APlanOfAnEarlierVersionIsRead) {
  const data::TempFolder folder;
  for (const bool of_a_folder : {true, false}) {
    RecommendPlan plan;
    plan.pictures = of_a_folder ? "birds" : "pictures";
    plan.config.dataset = "pictures";
    plan.candidates = candidates_of({"uniform", "progressive"}, plan.config);
    write_plan(folder.path(), plan);
    json object = json::parse(base::read_text(plan_path(folder.path())));
    for (const char* key : {"copied", "data_hash", "time", "cuts", "goal", "baseline", "epochs_given"})
      object.erase(key);
    base::write_atomically(plan_path(folder.path()), object.dump());
    const auto held = read_recommend_plan(folder.path());
    ASSERT_TRUE(held);
    EXPECT_EQ(held->copied, of_a_folder);
    EXPECT_EQ(held->data_hash, "");
    EXPECT_EQ(held->seconds, 0);
    EXPECT_EQ(held->cuts, 0);
  }
}

TEST(RecommendPicturesTest, AFolderIsKnownByItsWholePathHoweverItIsWritten) {
  const data::TempFolder folder;
  base::make_folder(folder / "photos");
  const std::string photos = (folder / "photos").string();
  for (const std::string& asked :
       {photos, photos + "/", (folder / "photos/../photos").string(), "folder:" + photos}) {
    EXPECT_EQ(lasting_name(asked), photos);
    EXPECT_TRUE(is_copied(asked));
    EXPECT_TRUE(same_pictures(photos, asked)) << asked;
  }
  EXPECT_EQ(source_name(photos), "folder:" + photos);
  EXPECT_EQ(source_name("folder:" + photos), "folder:" + photos);
  EXPECT_EQ(answer_folder(photos + "/"), "recommend-photos");
  EXPECT_EQ(short_name(photos), "photos");
  EXPECT_FALSE(same_pictures(photos, "photos"));
  EXPECT_TRUE(same_pictures("photos", "photos/")) << "a relative path, as earlier versions wrote it";
  std::filesystem::remove(folder / "photos");
  EXPECT_TRUE(same_pictures(photos, photos + "/")) << "the copy is enough";

  EXPECT_EQ(lasting_name("cifar100"), "cifar100");
  EXPECT_FALSE(is_copied("cifar100"));
  EXPECT_EQ(answer_folder("cifar100"), "recommend-cifar100");
  EXPECT_EQ(lasting_name("list:/a/train.txt,/a/../b/test.txt"), "list:/a/train.txt,/b/test.txt");
  EXPECT_TRUE(is_copied("list:train.txt,test.txt"));
  EXPECT_FALSE(is_copied("arrays:birds"));
}

TEST(RecommendPicturesTest, AnAnswerIsCalledLikeTheFolderAndNeverLiesInIt) {
  const data::TempFolder folder;
  const std::string photos = (folder / "photos").string();
  base::make_folder(photos);
  std::filesystem::create_directory_symlink("photos", folder / "link");
  for (const std::string& asked : {photos, photos + "/", "folder:" + photos, "folder:" + photos + "/"})
    EXPECT_EQ(answer_folder(asked), "recommend-photos") << asked;
  const auto refused = [&](const std::string& asked, const std::filesystem::path& answer) {
    return !data::error_of([&] { refuse_among_pictures(asked, answer); }).empty();
  };
  for (const std::string& asked : {photos, photos + "/", "folder:" + photos, (folder / "link").string()}) {
    for (const char* answer : {"photos", "photos/", "photos/a/b", "link/answer", "answer/../photos/a"})
      EXPECT_TRUE(refused(asked, folder / answer)) << asked << " " << answer;
    for (const char* answer : {"answer", "photos2", "photos/../answer", "."})
      EXPECT_FALSE(refused(asked, folder / answer)) << asked << " " << answer;
  }
  EXPECT_FALSE(refused("cifar100", folder / "photos"));
  EXPECT_FALSE(refused((folder / "gone").string(), folder / "gone/answer"));
}

TEST(RecommendPicturesTest, AFolderOfArraysOrCalledLikePublishedDataIsNoFolderOfPictures) {
  const data::TempFolder folder;
  data::write_file(folder / "birds/train_images.npy", "arrays");
  base::make_folder(folder / "fashion_mnist");
  base::make_folder(folder / "photos");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {"birds", "fashion_mnist"}) {
    EXPECT_FALSE(is_copied(name));
    EXPECT_EQ(source_name(name), name);
    EXPECT_EQ(answer_folder(name), std::string("recommend-") + name);
  }
  EXPECT_TRUE(is_picture_folder("photos"));
  EXPECT_TRUE(is_picture_folder("./fashion_mnist"));
  EXPECT_TRUE(is_picture_folder("folder:fashion_mnist"));
  std::filesystem::current_path(before);
}

TEST(RecommendPaceTest, ThePaceIsTheMeanOfTheLatestEpochsOnceThereAreEnough) {
  Pace pace(4, 9.0);
  pace.started(0, 0);
  pace.finished(0, 2);
  EXPECT_EQ(pace.epoch_seconds(), 9.0);  // one is not enough
  EXPECT_FALSE(pace.measured());
  pace.started(1, 1);
  pace.finished(1, 5);
  EXPECT_TRUE(pace.measured());
  EXPECT_EQ(pace.epoch_seconds(), 3.0);  // 2 and 4
  for (const double moment : {15.0, 25.0, 35.0, 45.0}) pace.finished(1, moment);
  EXPECT_EQ(pace.epoch_seconds(), 10.0);  // the first two are forgotten
}

TEST(RecommendPaceTest, TheMakespanIsThatOfJobsTakenInOrder) {
  EXPECT_EQ(makespan({}, 2), 0);
  EXPECT_EQ(makespan({3, 3, 3}, 2), 6);
  EXPECT_EQ(makespan({1, 3, 3}, 2), 4);
  EXPECT_EQ(makespan({2, 2, 2, 2}, 1), 8);
  EXPECT_EQ(makespan({5}, 4), 5);
}

TEST(RecommendPaceTest, EarlierCommandsAreChargedForAndTheReportHasItsShare) {
  const data::TempFolder folder;
  EXPECT_EQ(report_seconds(600), 30);
  EXPECT_EQ(report_seconds(7200), 60);
  EXPECT_EQ(report_seconds(70), 10);
  for (const double time : {3.0, 70.0, 140.0, 200.0, 400.0, 600.0, 1200.0, 7200.0})
    EXPECT_NEAR(with_report(time - report_seconds(time)), time, 1e-9);
  const double left = TimeBudget(folder.path(), 600).left();
  EXPECT_LE(left, 570);
  EXPECT_GT(left, 500);
  base::write_atomically(folder.path() / "recommend.seconds", "250\n");
  const double later = TimeBudget(folder.path(), 600).left();
  EXPECT_LE(later, 320);
  EXPECT_GT(later, 250);
  base::write_atomically(folder.path() / "recommend.seconds", "9999\n");
  EXPECT_LT(TimeBudget(folder.path(), 600).left(), 0);
}

}  // namespace
}  // namespace longtail::cli
