// Reads a study file: TOML with the sections [data], [model], [train], [run] and [grid], whose keys are the
// parameters of a run. A list for a parameter that takes one value is an axis of the grid.
//
//   name = "paper"
//   [data]
//   dataset = "cifar100"
//   [grid]
//   rho = [100, 50, 10]
//   seed = [42, 123, 456]
//   strategy = ["uniform", "progressive"]
//   gamma = [0.5, 1, 2]          # a parameter of a strategy: only the strategies that take it vary with it
//
// Runs that are not a product of axes are cases. Each case is the grid again with some parameters changed:
//
//   [[case]]
//   strategy = ["uniform", "class_balanced"]
//   [[case]]
//   loss = "logit_adjusted"      # the strategy is that of [train], or the default
//
// Everything is checked while it is read; an error names file and line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/study/trainer.h"

namespace longtail::study {

struct Setting {
  std::string key;                  // a parameter of run_params(), or of a strategy
  std::vector<std::string> values;  // one, or several for an axis; checked, as text
  std::string where;                // "paper.toml:12" or "--set train.epochs=20", for errors
  bool of_strategy = false;
  bool of_trainer = false;          // of [trainer.params]; the values are then JSON
  std::vector<std::string> said{};  // for `strategy`: the parameters set in a value, even to their default

  bool axis() const { return values.size() > 1; }
};

struct StudyFile {
  std::string name;
  std::string about;                          // a sentence for people, may be empty
  std::vector<Setting> settings;              // in the order of the file, each key once
  std::optional<Trainer> trainer{};           // its params are also in `settings`
  std::vector<std::vector<Setting>> cases{};  // the settings that each case changes; empty: the grid alone

  const Setting* find(std::string_view key) const;
  // The study of one case: its settings replace those of the grid; it has no cases itself.
  StudyFile of_case(const std::vector<Setting>& settings_of_case) const;
};

// `source` is the name used in errors; the default name of the study is its stem.
StudyFile parse_study(std::string_view text, const std::string& source);
StudyFile read_study(const std::filesystem::path& path);

// Applies "section.key=value", as on the command line: replaces what the file says for the key, axis or not.
// The value is read as TOML ("[1, 2]" is an axis), or as plain text if it is not TOML.
void override_setting(StudyFile& study, const std::string& assignment);

// The names of the parameters that strategies take (gamma, q, ...), and whether a strategy takes one.
std::vector<std::string> strategy_parameters();
bool strategy_takes(std::string_view strategy, std::string_view key);

}  // namespace longtail::study
