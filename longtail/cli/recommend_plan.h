// What `longtail recommend` is going to do: decided once from the data, the time and the measured speed, and
// kept in the folder, so that a command that was killed resumes with the same plan.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "longtail/study/study_file.h"
#include "longtail/train/config.h"

namespace longtail::cli {

struct RecommendPlan {
  std::string pictures{};                 // as given on the command line
  train::RunConfig config{};              // of every run, but for strategy and seed
  std::vector<std::string> strategies{};  // canonical
  int jobs = 1;
  int threads = 1;         // of each run
  double run_seconds = 0;  // of a run, estimated
};

// What a plan is made from.
struct PlanFacts {
  std::int64_t images = 0;  // in training
  int strategies = 0;
  int cpus = 1;
  double seconds = 0;                  // the time there is
  double small_epoch = 0;              // seconds of an epoch of resnet20, on one job's threads
  double large_epoch = 0;              // of resnet32
  std::optional<int> epochs{};         // asked for
  std::optional<std::string> model{};  // asked for
};
struct Effort {
  std::string model{};
  int epochs = 0;
  double run_seconds = 0;
};

// As many jobs as there are CPUs, if there are as many strategies.
int planned_jobs(int strategies, int cpus);
// Images in a step: the power of two up to 128 that leaves at least 16 steps an epoch, 8 at least.
int planned_batch(std::int64_t images);
// The most epochs, up to 200, with which five seeds of all strategies fit into the time, or three if five
// would leave fewer than 20; the larger network if it gets 100. A UsageError says how much time is needed at
// least.
Effort planned_effort(const PlanFacts& facts);

// Part of the time that training may use; the rest is for reading, looking and reporting.
inline constexpr double kTrainingShare = 0.85;
inline constexpr int kFewestEpochs = 5;

// The study with the first `seeds` seeds. Its settings say everything that is not at its default.
study::StudyFile study_of(const RecommendPlan& plan, int seeds);

std::filesystem::path plan_path(const std::filesystem::path& folder);
void write_plan(const std::filesystem::path& folder, const RecommendPlan& plan);
std::optional<RecommendPlan> read_recommend_plan(const std::filesystem::path& folder);

}  // namespace longtail::cli
