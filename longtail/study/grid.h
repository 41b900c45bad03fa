// The runs of a study: every combination of the axes, each with its whole configuration and a name that says
// what it is and changes when anything that matters changes.
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

inline constexpr std::size_t kHashDigits = 10;  // of the hash, at the end of the name of a run

struct PlannedRun {
  std::string name;  // "progressive-rho100-seed42-1a2b3c4d5e": its folder under runs/, at most 230 bytes
  std::string hash;  // SHA-256 of the identity of the configuration; the name ends with its first ten digits
  train::RunConfig config;  // resolved; the engine stays `auto` if a trainer does the run
  std::optional<Trainer> trainer{};
};

// Of a run that is rebalanced after training: the hash of the run that is trained, which is a run of the same
// study. Empty for other runs.
std::string parent_hash(const PlannedRun& run);
// Of each run: the place of that run.
std::vector<std::optional<std::size_t>> parents_of(std::span<const PlannedRun> runs);

// The run of the study that another one begins as (train/beginning.h), and for how many epochs.
struct Beginning {
  std::size_t run = 0;  // its place in the study
  int epochs = 0;
};
// Of each run: the one before it that it is alike for the most epochs, the first of several. None for most, and none
// where the network of an earlier epoch is to be kept.
std::vector<std::optional<Beginning>> beginnings_of(std::span<const PlannedRun> runs);

// In the order of the file: the axis written first varies slowest. `engine` is what the file's `auto` means
// in this study. An axis of a strategy's parameter multiplies only the strategies that take it. With cases:
// all of them at one place of the grid before the next.
std::vector<PlannedRun> resolve(const StudyFile& study, const std::string& engine);

// The run of one configuration, named by strategy, rho, seed and the keys in `also`.
PlannedRun make_run(const train::RunConfig& config, const std::vector<std::string>& also = {});

// The SHA-256 that the name of a run promises, computed again.
std::string run_hash(const PlannedRun& run);

// The study as a file that says everything: every parameter written out, `engine` in place of auto; of [run] what the
// study says. Reading it again gives the same runs.
std::string resolved_toml(const StudyFile& study, const std::string& engine);

// The engine the file asks for ("auto" if it does not say). The engine cannot be an axis.
std::string wanted_engine(const StudyFile& study);

}  // namespace longtail::study
