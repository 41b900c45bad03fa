// The runs of a study: every combination of the axes, each with its whole configuration and a name that
// describes it and changes whenever anything that matters changes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "longtail/study/study_file.h"
#include "longtail/study/trainer.h"
#include "longtail/train/config.h"

namespace longtail::study {

inline constexpr std::size_t kHashDigits = 10;  // of the hash at the end of a run's name

struct PlannedRun {
  std::string name;  // "progressive-rho100-seed42-1a2b3c4d5e": its folder under runs/, at most 230 bytes
  std::string hash;  // SHA-256 of the identity of the configuration; the name ends with its first ten digits
  train::RunConfig config;  // resolved; the engine stays `auto` if a trainer does the run
  std::optional<Trainer> trainer{};
};

// For a run that is rebalanced after training: the hash of the trained run, which belongs to the same study.
// Empty for other runs.
std::string parent_hash(const PlannedRun& run);
// For each run, the index of that trained run.
std::vector<std::optional<std::size_t>> parents_of(std::span<const PlannedRun> runs);

// The run with which another run shares its first epochs (train/beginning.h), and how many they are.
struct Beginning {
  std::size_t run = 0;  // its index in the study
  int epochs = 0;
};
// For each run, the earlier run with which it shares the most epochs, the first one if several do. Most runs
// have none. An earlier run does not count if the network of a shared epoch must be kept.
std::vector<std::optional<Beginning>> beginnings_of(std::span<const PlannedRun> runs);

// The runs in the order of the file: the axis written first varies slowest. `engine` is what the file's
// `auto` means in this study. An axis over a strategy's parameter multiplies only the strategies that take
// it. All cases at one point of the grid come before the next point.
std::vector<PlannedRun> resolve(const StudyFile& study, const std::string& engine);

// The run of one configuration, named after strategy, rho, seed and the keys in `also`.
PlannedRun make_run(const train::RunConfig& config, const std::vector<std::string>& also = {});

// Computes the SHA-256 in the name of a run again.
std::string run_hash(const PlannedRun& run);

// The study as a file with every parameter written out and `engine` in place of auto; of [run] only what the
// study sets. Reading it again gives the same runs.
std::string resolved_toml(const StudyFile& study, const std::string& engine);

// The engine the file asks for ("auto" if it does not say). The engine cannot be an axis.
std::string wanted_engine(const StudyFile& study);

}  // namespace longtail::study
