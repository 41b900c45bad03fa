// Reads the folder of a study (folder.h) for code that only reads results: the names of its runs, and whether
// a recorded result is still what was written. Does not depend on configurations, so a report needs no
// engine.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longtail::study {

std::filesystem::path run_folder(const std::filesystem::path& folder, const std::string& name);

// An Error unless the name is a plain folder name that cannot lead out of runs/.
void require_run_name(const std::string& name);
// The names of the runs in study.json; an Error if it cannot be read.
std::vector<std::string> recorded_runs(const std::filesystem::path& folder);

// The name of the study and the sentence about it, from study.json.
struct RecordedWords {
  std::string name;
  std::string about;
};
RecordedWords recorded_words(const std::filesystem::path& folder);

// Folders under runs/ that belong to none of `runs`: leftovers of an earlier version of the study.
std::vector<std::string> strangers(const std::filesystem::path& folder, std::span<const std::string> runs);

// What is wrong with the recorded result, as a sentence; nullopt if there is no result or it is sound.
std::optional<std::string> damage(const std::filesystem::path& run_folder);

}  // namespace longtail::study
