// The plan of `longtail recommend`: decided once from the data, the time and the measured speed, and kept in
// the folder, so that a killed command resumes with the same plan.
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
  bool copied = false;        // a copy of the pictures is in the folder, as arrays
  std::string data_hash{};    // of the data set; empty: not recorded by an earlier version
  train::RunConfig config{};  // of every run, except the seed and what the candidates set
  std::vector<Candidate> candidates{};
  std::optional<report::Goal> goal{};  // empty: not recorded by an earlier version
  std::string baseline{};              // the series of the candidate that the others are compared with
  int jobs = 1;
  int threads = 1;         // of each run
  double run_seconds = 0;  // per run, estimated
  int picture_side = 0;    // median of the pictures' shorter sides, or the side of larger images; 0: neither
  bool epochs_given = false;
  double seconds = 0;  // the total time, as last given; 0: not recorded by an earlier version
  int cuts = 0;        // how often the epochs were cut so far
};

// The inputs of a plan.
struct PlanFacts {
  std::vector<std::string> candidates{};  // how each is rebalanced; "none": it is trained
  int cpus = 1;
  double seconds = 0;                  // available time, for training alone
  double used = 0;                     // the part used before training
  double small_epoch = 0;              // measured seconds per epoch of resnet20 on images of `side`
  double large_epoch = 0;              // the same for resnet32, or for the network asked for
  int side = 32;                       // of the images used in that measurement
  int picture_side = 0;                // images may be made as large as this; 0: no larger than `side`
  std::optional<int> epochs{};         // asked for
  std::optional<std::string> model{};  // asked for
};
struct Effort {
  int side = 32;
  std::string model{};
  int epochs = 0;
  double run_seconds = 0;
};

// One job per CPU, but no more jobs than strategies.
int planned_jobs(int strategies, int cpus);
// Images per step: the largest power of two from 8 to 128 that leaves at least 16 steps per epoch (8 if none
// does).
int planned_batch(std::int64_t images);
// Chooses the image size first: the largest of 64, 48 and `side` that is no larger than the pictures and
// leaves 60 epochs each for five seeds of all candidates. Then the larger network, if it gets 100 epochs.
// Then the most epochs, up to 200, with which five seeds fit into the time, or three if five would leave
// fewer than 20. Assumes that every run takes a quarter longer than measured. A UsageError says which --time
// would be enough.
Effort planned_effort(const PlanFacts& facts);

// The most epochs with which `seeds` seeds fit into `seconds`, with no margin. `candidates` as in PlanFacts;
// a rebalanced one costs what the race charges for it (recommend_pace.h), however many epochs are trained.
int epochs_that_fit(double seconds, double epoch_seconds, const std::vector<std::string>& candidates,
                    int jobs, int seeds);
// How each candidate is rebalanced.
std::vector<std::string> rebalances_of(const std::vector<Candidate>& candidates);

// A UsageError if a candidate cannot be trained with this plan.
void check_candidates(const RecommendPlan& plan);
// Whether all candidates can be trained for that many epochs.
bool can_have_epochs(const RecommendPlan& plan, int epochs);

// Sets the epochs, and warm-up epochs to match; clears the milestones.
void set_epochs(train::RunConfig& config, int epochs);

inline constexpr int kFewestEpochs = 5;

// The study with the first `seeds` seeds. Its settings include everything that is not at its default, and
// where the data are, for commands that use a single run of the folder.
study::StudyFile study_of(const RecommendPlan& plan, int seeds);

// The file is also read by reports (report/race.h).
std::filesystem::path plan_path(const std::filesystem::path& folder);
void write_plan(const std::filesystem::path& folder, const RecommendPlan& plan);
std::optional<RecommendPlan> read_recommend_plan(const std::filesystem::path& folder);

}  // namespace longtail::cli
