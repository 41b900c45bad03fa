#include "longtail/study/grid.h"
#include "longtail/base/test_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/testing.h"

namespace longtail::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

StudyFile parsed(const std::string& text) { return parse_study(text, "test.toml"); }

std::vector<std::string> names(const std::vector<PlannedRun>& runs) {
  std::vector<std::string> list;
  list.reserve(runs.size());
  for (const auto& run : runs) list.push_back(run.name.substr(0, run.name.size() - 11));
  return list;
}

std::string resolve_refusal(const std::string& text) {
  try {
    const StudyFile study = parsed(text);
    wanted_engine(study);
    resolve(study, "simd");
  } catch (const base::Error& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(Grid, VariesTheFirstAxisSlowest) {
  const auto runs = resolve(
      parsed("[grid]\nrho = [100, 10]\nseed = [1, 2]\nstrategy = [\"uniform\", \"square_root\"]"), "simd");
  EXPECT_THAT(names(runs),
              ElementsAre("uniform-rho100-seed1", "square_root-rho100-seed1", "uniform-rho100-seed2",
                          "square_root-rho100-seed2", "uniform-rho10-seed1", "square_root-rho10-seed1",
                          "uniform-rho10-seed2", "square_root-rho10-seed2"));
}

TEST(Grid, WithoutAnAxisIsOneRun) { EXPECT_EQ(resolve(parsed(""), "simd").size(), 1u); }

TEST(Grid, MultipliesOnlyTheStrategiesThatTakeAParameter) {
  const auto runs =
      resolve(parsed("[grid]\nstrategy = [\"uniform\", \"progressive\"]\ngamma = [0.5, 1, 2]"), "simd");
  EXPECT_THAT(names(runs), ElementsAre("uniform-rho100-seed42", "progressive-gamma0.5-rho100-seed42",
                                       "progressive-rho100-seed42", "progressive-gamma2-rho100-seed42"));
  EXPECT_EQ(runs[3].config.strategy, "progressive:gamma=2");
}

TEST(Grid, RefusesAParameterThatNoStrategyTakes) {
  EXPECT_THAT(resolve_refusal("[grid]\nstrategy = [\"uniform\"]\ngamma = [1, 2]"),
              HasSubstr("test.toml:3: no strategy of this study (uniform) takes `gamma`"));
}

TEST(Grid, AProfileWithoutARatioIsNamedInsteadOfOne) {
  const auto runs = resolve(parsed("[data]\nprofile = \"natural\"\n[grid]\nseed = [1, 2]"), "simd");
  EXPECT_THAT(names(runs), ElementsAre("uniform-natural-seed1", "uniform-natural-seed2"));
  EXPECT_THAT(resolve_refusal("[data]\nprofile = \"natural\"\n[grid]\nrho = [10, 100]"),
              HasSubstr("test.toml:4: `rho` has 2 values, but the profile `natural` takes none"));
  // As an axis it meets itself again at every ratio.
  EXPECT_THAT(names(resolve(parsed("[grid]\nprofile = [\"exp\", \"natural\"]\nrho = [10, 100]"), "simd")),
              ElementsAre("uniform-rho10-profileexp-seed42", "uniform-rho100-profileexp-seed42",
                          "uniform-natural-seed42"));
}

TEST(Grid, WhatSaysHowClassesAreCutIsRefusedWhereTheyAreNotCut) {
  const std::string own = "[data]\ndataset = \"folder:birds\"\n";
  EXPECT_THAT(resolve_refusal(own + "[grid]\nn_max = [5, 10]\nseed = [1, 2]"),
              HasSubstr("test.toml:4: `n_max` has 2 values, but the profile `natural` takes none"));
  EXPECT_THAT(resolve_refusal(own + "class_order = [\"label\", \"shuffled\"]"),
              HasSubstr("test.toml:3: `class_order` has 2 values, but the profile `natural` takes none"));
  EXPECT_THAT(resolve_refusal(own + "n_max = 5"),
              HasSubstr("test.toml:3: `n_max` says how classes are cut, but the profile `natural` (the "
                        "default for your own data) does not"));
  EXPECT_THAT(resolve_refusal("[data]\nprofile = \"counts\"\nclass_order = \"shuffled\""),
              HasSubstr("test.toml:3: `class_order` says how classes are cut, but the profile `counts`"));
  // The defaults may be said: study.toml says them.
  EXPECT_EQ(resolve_refusal(own + "n_max = 0\nclass_order = \"label\""), "(accepted)");
  EXPECT_EQ(resolve_refusal(resolved_toml(parsed(own), "simd")), "(accepted)");
  EXPECT_EQ(
      resolve(parsed(own + "profile = \"exp\"\nclass_order = \"shuffled\"\nn_max = [5, 10]"), "simd").size(),
      2u);
}

TEST(Grid, CombinationsThatCannotBeNameTheirLine) {
  EXPECT_THAT(resolve_refusal("[train]\nepochs = 10\nmilestones = [160]"),
              StartsWith("test.toml:3: `milestones` has 160"));
}

TEST(Grid, RefusesAParameterOfAStrategyOutOfRangeOrGivenTwice) {
  EXPECT_THAT(resolve_refusal("[grid]\nstrategy = [\"progressive\"]\ngamma = [1, -2]"),
              StartsWith("test.toml:3: "));
  for (const char* gamma : {"3", "1"}) {  // 1 is what it would be if nobody had said anything
    EXPECT_THAT(resolve_refusal("[grid]\nstrategy = [\"uniform\", \"progressive:gamma=" + std::string(gamma) +
                                "\"]\ngamma = [0.5, 2]"),
                HasSubstr("test.toml:3: `gamma` is given twice"));
  }
}

TEST(Grid, TheNameOfARunFitsIntoAFileSystemWhateverItsParametersAre) {
  const std::string some(180, 'a'), other(180, 'b');
  const auto runs = resolve(parsed("[trainer]\ncommand = [\"true\"]\n[trainer.params]\nflags = [\"" + some +
                                   some + "\", \"" + some + other + "\", \"" + some + "\"]"),
                            "simd");
  ASSERT_EQ(runs.size(), 3u);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(runs[i].name.size(), 230u);
    EXPECT_TRUE(runs[i].name.ends_with("-seed42-" + runs[i].hash.substr(0, kHashDigits))) << runs[i].name;
  }
  EXPECT_NE(runs[0].name, runs[1].name);
  EXPECT_THAT(runs[2].name, StartsWith("uniform-rho100-flags" + some + "-seed42-"));
}

TEST(Grid, NamesTheOtherAxesOfARun) {
  const auto runs =
      resolve(parsed("[grid]\nlr = [0.1, 0.05]\nmilestones = [[160, 180], [120, 160]]"), "simd");
  EXPECT_THAT(names(runs), ElementsAre("uniform-rho100-lr0.1-milestones160-180-seed42",
                                       "uniform-rho100-lr0.1-milestones120-160-seed42",
                                       "uniform-rho100-lr0.05-milestones160-180-seed42",
                                       "uniform-rho100-lr0.05-milestones120-160-seed42"));
}

TEST(Grid, GivesEveryRunItsOwnNameAndTheSameRunTheSameName) {
  const auto runs = resolve(parsed("[grid]\nseed = [1, 2, 3]\nlr = [0.1, 0.2]"), "simd");
  std::set<std::string> distinct;
  for (const auto& run : runs) distinct.insert(run.name);
  EXPECT_EQ(distinct.size(), 6u);
  const auto other = resolve(parsed("[train]\nlr = 0.2\n[grid]\nseed = [3]"), "simd");
  EXPECT_EQ(other[0].hash, runs[5].hash);
}

TEST(Grid, ChangesTheHashWithWhatMattersOnly) {
  const auto hash = [](const std::string& text) { return resolve(parsed(text), "simd")[0].hash; };
  const std::string plain = hash("");
  EXPECT_EQ(hash("[run]\nthreads = 3\ndata = \"/elsewhere\""), plain);
  EXPECT_EQ(hash("[train]\nepochs = 200\nmilestones = [160, 180]"), plain) << "the default, said";
  EXPECT_NE(hash("[train]\nepochs = 201"), plain);
  EXPECT_NE(hash("[train]\nweight_decay = 1e-4"), plain);
  EXPECT_NE(hash("[data]\nval_fraction = 0.1"), plain);
}

TEST(Grid, RefusesCombinationsThatCannotBe) {
  EXPECT_THAT(resolve_refusal("[train]\nepochs = 10\nmilestones = [20]"), HasSubstr("milestones"));
  EXPECT_THAT(resolve_refusal("[grid]\nengine = [\"simd\", \"amx\"]"), HasSubstr("cannot be an axis"));
}

TEST(Grid, RefusesMoreRunsThanAnyoneCanMean) {
  std::string list = "0";
  for (int i = 1; i < 400; ++i) list += ", " + std::to_string(i);
  EXPECT_THAT(resolve_refusal("[grid]\nseed = [" + list + "]\nwarmup_epochs = [" + list + "]"),
              HasSubstr("more than 100,000 runs"));
}

TEST(Grid, ARunIsNamedByATrainersParameterInLettersThatAFileSystemTakes) {
  const auto runs =
      resolve(parsed("[trainer]\ncommand = [\"true\"]\n[trainer.params]\n\"opt/lr\" = [0.1, 0.2]"), "simd");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_THAT(runs[0].name, StartsWith("uniform-rho100-opt-lr0.1-seed42-"));
}

TEST(ResolvedToml, GivesTheSameRunsAgain) {
  const StudyFile study = parsed(
      "name = \"a \\\"b\\\"\"\n[train]\nepochs = 30\nlr = 0.05\n[grid]\nmilestones = [[20, 25], [10]]\n"
      "strategy = [\"progressive\", \"uniform\"]\ngamma = [0.5, 2]\nseed = [1, 2]\n");
  const auto runs = resolve(study, "simd");
  const StudyFile again = parse_study(resolved_toml(study, "simd"), "again.toml");
  EXPECT_EQ(again.name, "a \"b\"");
  const auto same = resolve(again, "auto is decided");
  ASSERT_EQ(same.size(), runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(same[i].name, runs[i].name);
}

// What is particular about each: who does the runs, text of a strategy, a case that --set has emptied, what is kept.
TEST(ResolvedToml, GivesTheSameRunsAgainWhateverTheStudyHas) {
  std::vector<StudyFile> studies = {
      parsed("[grid]\nseed = [1, 2]\n[trainer]\ncommand = [\"train\", \"{config}\"]\ntime_limit = \"90m\"\n"
             "[trainer.params]\nheads = [1, 2]\nnetwork = \"a\"\n"),
      parsed(
          "[grid]\nstrategy = [\"deferred\", \"uniform\"]\nthen = [\"class_balanced\", \"square_root\"]\n"),
      parsed("[train]\nstrategy = \"stratified\"\nof = \"square_root\"\n"),
      parsed("[grid]\nseed = [1, 2]\n[[case]]\nepochs = 20\n[[case]]\nloss = \"focal\"\n"),
      parsed("[[case]]\nepochs = 20\n[[case]]\nloss = \"focal\"\n"),
      parsed("[run]\nkeep_epochs = [0, 100]\nthreads = 3\ndata = \"/elsewhere\"\n"),
  };
  for (const std::size_t emptied : {3U, 4U}) override_setting(studies[emptied], "train.epochs=7");
  for (const StudyFile& study : studies) {
    const std::string engine = study.trainer ? kTrainerEngine : "simd";
    const auto runs = resolve(study, engine);
    const std::string text = resolved_toml(study, engine);
    const auto same = resolve(parsed(text), engine);
    EXPECT_EQ(names(same), names(runs)) << text;
    ASSERT_EQ(same.size(), runs.size()) << text;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(same[i].hash, runs[i].hash) << text;
      EXPECT_EQ(same[i].config.keep_epochs, runs[i].config.keep_epochs) << text;
      EXPECT_EQ(same[i].config.threads, runs[i].config.threads) << text;
      EXPECT_EQ(same[i].config.data, runs[i].config.data) << text;
    }
  }
}

// The study of the paper: 4 strategies, 3 ratios, 3 seeds, and every hyperparameter of its table.
TEST(PaperStudy, IsThe36RunsOfThePaper) {
  const auto runs = resolve(read_study(base::source_dir() + "/studies/paper.toml"), "simd");
  ASSERT_EQ(runs.size(), 36u);
  std::set<std::string> points;
  for (const auto& run : runs) {
    const train::RunConfig& c = run.config;
    points.insert(fmt::format("{} {} {}", c.strategy, c.subset.rho, c.seed));
    EXPECT_EQ(c.dataset, "cifar100");
    EXPECT_EQ(c.subset.profile, "exp");
    EXPECT_EQ(c.subset.class_order, "label");
    EXPECT_EQ(c.subset.groups, "paper");
    EXPECT_EQ(c.augment, "crop_flip");
    EXPECT_EQ(c.val_fraction, 0);
    EXPECT_EQ(c.model, "resnet32");
    EXPECT_EQ(c.shortcut, "projection");
    EXPECT_EQ(c.loss, "cross_entropy");
    EXPECT_TRUE(c.nesterov);
    EXPECT_EQ(c.momentum, 0.9);
    EXPECT_EQ(c.weight_decay, 2e-4);
    EXPECT_EQ(c.lr, 0.1);
    EXPECT_EQ(c.batch_size, 128);
    EXPECT_EQ(c.epochs, 200);
    EXPECT_EQ(c.warmup_epochs, 5);
    EXPECT_EQ(c.schedule, "multistep");
    EXPECT_THAT(c.milestones, ElementsAre(160, 180));
    EXPECT_EQ(c.lr_decay, 0.01);
    EXPECT_EQ(c.clip, 5.0);
  }
  for (const char* strategy : {"uniform", "class_balanced", "square_root", "progressive"}) {
    for (const int rho : {10, 50, 100}) {
      for (const int seed : {42, 123, 456})
        EXPECT_TRUE(points.contains(fmt::format("{} {} {}", strategy, rho, seed)));
    }
  }
  EXPECT_EQ(runs.front().config.subset.rho, 100);
  EXPECT_EQ(runs.back().config.subset.rho, 10);
}

TEST(ShippedStudies, AllResolve) {
  int studies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(base::source_dir() + "/studies")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_FALSE(resolve(read_study(entry.path().string()), "simd").empty()) << entry.path();
    ++studies;
  }
  EXPECT_GE(studies, 11);
}

TEST(ShippedStudies, SixSeedsHaveTheRunsOfThePaperAmongThem) {
  const auto hashes = [](const char* name) {
    std::set<std::string> all;
    for (const PlannedRun& run : resolve(read_study(base::source_dir() + "/studies/" + name), "simd"))
      all.insert(run_hash(run));
    return all;
  };
  const std::set<std::string> paper = hashes("paper-as-run.toml"), seeds = hashes("seeds.toml");
  EXPECT_EQ(seeds.size(), 12u);
  EXPECT_EQ(std::count_if(seeds.begin(), seeds.end(), [&](const auto& hash) { return paper.contains(hash); }),
            6);
}

TEST(Grid, ACaseIsTheGridAgainWithSomeParametersOtherwise) {
  const auto runs = resolve(parsed("[train]\nepochs = 10\n[grid]\nseed = [1, 2]\n"
                                   "[[case]]\nstrategy = [\"uniform\", \"class_balanced\"]\n"
                                   "[[case]]\nloss = \"logit_adjusted\"\nepochs = 20\n"
                                   "[[case]]\nstrategy = \"uniform\"\n"),
                            "simd");
  EXPECT_THAT(names(runs),
              ElementsAre("uniform-rho100-seed1", "class_balanced-rho100-seed1",
                          "uniform-rho100-losslogit_adjusted-epochs20-seed1", "uniform-rho100-seed2",
                          "class_balanced-rho100-seed2", "uniform-rho100-losslogit_adjusted-epochs20-seed2"));
  EXPECT_EQ(runs[0].config.epochs, 10);
  EXPECT_EQ(runs[2].config.epochs, 20);
}

TEST(Grid, CasesAreInTheResolvedFileAndASettingOfTheCommandLineCountsInAllOfThem) {
  StudyFile study = parsed("[[case]]\nstrategy = \"progressive\"\ngamma = [1, 2]\n[[case]]\nepochs = 20\n");
  const auto again = resolve(parsed(resolved_toml(study, "simd")), "simd");
  EXPECT_EQ(names(again), names(resolve(study, "simd")));
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[1].config.strategy, "progressive:gamma=2");
  override_setting(study, "train.epochs=7");
  for (const auto& run : resolve(study, "simd")) EXPECT_EQ(run.config.epochs, 7);
}

TEST(Grid, WrongCasesAreRefused) {
  EXPECT_THAT(resolve_refusal("[[case]]\nengine = \"simd\"\n"),
              HasSubstr("test.toml:2: `engine` cannot be of a case"));
  EXPECT_THAT(resolve_refusal("[[case]]\nlos = \"focal\"\n"),
              HasSubstr("test.toml:2: unknown key `los` in [case]"));
  EXPECT_THAT(resolve_refusal("[[case]]\n"), HasSubstr("sets at least one parameter"));
}

TEST(Grid, ARebalancedRunNeedsTheRunItStartsFrom) {
  const auto runs = resolve(parsed("[grid]\nrebalance = [\"none\", \"crt\", \"tau_norm:tau=1\"]\n"), "simd");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(parent_hash(runs[0]), "");
  EXPECT_EQ(parent_hash(runs[1]), runs[0].hash);
  EXPECT_EQ(parent_hash(runs[2]), runs[0].hash);
  EXPECT_THAT(
      resolve_refusal("[grid]\nrebalance = [\"crt\", \"ncm\"]\n"),
      HasSubstr(
          "test.toml:2: `rebalance` has `crt`, but the run that it starts from is no run of the study"));
  EXPECT_THAT(resolve_refusal("[train]\nrebalance = \"crt\"\n"),
              HasSubstr("rebalance = [\"none\", \"crt\"]"));
  EXPECT_THAT(resolve_refusal("[trainer]\ncommand = [\"x\"]\n[grid]\nrebalance = [\"none\", \"crt\"]\n"),
              HasSubstr("done by a trainer"));
}

TEST(Grid, RunsBeginAsTheEarlierRunThatTheyAreAlikeTheLongest) {
  const auto runs = resolve(read_study(base::source_dir() + "/studies/milestones.toml"), "simd");
  const auto beginnings = beginnings_of(runs);
  ASSERT_EQ(runs.size(), 30u);
  // Ten runs per seed: milestones [160,180], [100,120], [120,140], [140,160], [180,190], each uniform and progressive.
  const std::vector<int> epochs = {0, 100, 120, 140, 160};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const int expected = epochs[i % 10 / 2];
    ASSERT_EQ(beginnings[i].has_value(), expected > 0) << runs[i].name;
    if (expected == 0) continue;
    EXPECT_EQ(beginnings[i]->epochs, expected) << runs[i].name;
    EXPECT_EQ(beginnings[i]->run, i / 10 * 10 + i % 2) << runs[i].name;
  }
}

TEST(Grid, RunsWhoseFileIsGoneBeginAsNoOther) {
  const data::TempFolder folder;
  base::write_atomically(folder / "counts.txt", std::string_view("5\n4\n"));
  const auto runs =
      resolve(parsed("[data]\nprofile = \"counts\"\ncounts_file = \"" + (folder / "counts.txt").string() +
                     "\"\n[grid]\nmilestones = [[160, 180], [140, 180]]"),
              "simd");
  EXPECT_TRUE(beginnings_of(runs)[1]);
  std::filesystem::remove(folder / "counts.txt");
  EXPECT_FALSE(beginnings_of(runs)[1]);
}

TEST(Grid, RunsTrainEpochsThemselvesWhoseNetworksTheyKeep) {
  const auto runs =
      resolve(parsed("[run]\nkeep_epochs = [120]\n[grid]\nmilestones = [[160, 180], [140, 180], [120, 180]]"),
              "simd");
  const auto beginnings = beginnings_of(runs);
  ASSERT_EQ(beginnings.size(), 3u);
  EXPECT_FALSE(beginnings[1]) << "140 epochs are alike, and one of them is to be kept";
  ASSERT_TRUE(beginnings[2]);
  EXPECT_EQ(beginnings[2]->run, 0u);
  EXPECT_EQ(beginnings[2]->epochs, 120);
}

TEST(Grid, TheStudyOfRemediesHasItsRuns) {
  const auto runs = resolve(read_study(base::source_dir() + "/studies/remedies.toml"), "simd");
  EXPECT_EQ(runs.size(), 66u);
}

}  // namespace
}  // namespace longtail::study
