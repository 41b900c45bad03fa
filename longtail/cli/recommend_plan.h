// What `longtail recommend` is going to do: decided once from the data, the time and the measured speed, and
// kept in the folder, so that a command that was killed resumes with the same plan.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "longtail/cli/recommend_candidates.h"
#include "longtail/report/recommendation.h"
#include "longtail/study/study_file.h"
#include "longtail/train/config.h"

namespace longtail::cli {

struct RecommendPlan {
  std::string pictures{};     // what the answer is about (recommend_pictures.h: lasting_name)
  bool copied = false;        // the pictures are in the folder, as arrays
  std::string data_hash{};    // of the data set; empty: an earlier version wrote the plan and did not say
  train::RunConfig config{};  // of every run, but for seed and what the candidates say
  std::vector<Candidate> candidates{};
  std::optional<report::Goal> goal{};  // none: an earlier version wrote the plan and did not say
  std::string baseline{};              // the series of the candidate that the others are compared with
  int jobs = 1;
  int threads = 1;         // of each run
  double run_seconds = 0;  // of a run, estimated
  int picture_side =
      0;  // median of the shorter sides of the pictures, or the side of larger images; 0: neither
  bool epochs_given = false;
  double seconds = 0;  // the time for all of it that was last given; 0: an earlier version did not say
  int cuts = 0;        // of the epochs, so far
};

// What a plan is made from.
struct PlanFacts {
  std::vector<std::string> candidates{};  // of each, how it is rebalanced: "none" of those that are trained
  int cpus = 1;
  double seconds = 0;                  // the time there is, for training alone
  double used = 0;                     // of the time, before training
  double small_epoch = 0;              // seconds of an epoch of resnet20 on images of `side`, as measured
  double large_epoch = 0;              // of resnet32, or of the network asked for
  int side = 32;                       // of the images these were measured with
  int picture_side = 0;                // images may be made larger if the pictures are; 0: they may not
  std::optional<int> epochs{};         // asked for
  std::optional<std::string> model{};  // asked for
};
struct Effort {
  int side = 32;
  std::string model{};
  int epochs = 0;
  double run_seconds = 0;
};

// As many jobs as there are CPUs, if there are as many strategies.
int planned_jobs(int strategies, int cpus);
// Images in a step: the power of two up to 128 that leaves at least 16 steps per epoch, 8 at least.
int planned_batch(std::int64_t images);
// Image size first: the largest of 64, 48 and `side` that is no larger than the pictures and with which five
// seeds of all candidates get 60 epochs each. Then the larger network, if it gets 100. Then the most epochs,
// up to 200, with which five seeds fit into the time, or three if five would leave fewer than 20. All of it
// as if every run took a quarter longer than measured. A UsageError says which --time would be enough.
Effort planned_effort(const PlanFacts& facts);

// The most epochs with which `seeds` seeds fit, an epoch taking so many seconds; nothing to spare. `candidates` as in
// PlanFacts; what is rebalanced costs what the race charges for it (recommend_pace.h), however long is trained.
int epochs_that_fit(double seconds, double epoch_seconds, const std::vector<std::string>& candidates,
                    int jobs, int seeds);
// How each of them is rebalanced.
std::vector<std::string> rebalances_of(const std::vector<Candidate>& candidates);

// A UsageError if a candidate cannot be trained so.
void check_candidates(const RecommendPlan& plan);
// Whether all of them can be trained for so many epochs.
bool can_have_epochs(const RecommendPlan& plan, int epochs);

// Epochs of warm-up and no milestones: what goes with so many epochs.
void set_epochs(train::RunConfig& config, int epochs);

inline constexpr int kFewestEpochs = 5;

// The study with the first `seeds` seeds. Its settings say everything that is not at its default, and where the data
// are, for whoever takes a run from the folder.
study::StudyFile study_of(const RecommendPlan& plan, int seeds);

// The file is also read by reports (report/race.h).
std::filesystem::path plan_path(const std::filesystem::path& folder);
void write_plan(const std::filesystem::path& folder, const RecommendPlan& plan);
std::optional<RecommendPlan> read_recommend_plan(const std::filesystem::path& folder);

}  // namespace longtail::cli
