// The folder that a report is written to. What an earlier report wrote there is replaced or removed; other
// files are neither overwritten nor removed. `files.txt` lists what reports wrote, below a line that says so.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>

namespace longtail::report {

// Names of files, relative to the folder of the report.
using FileNames = std::set<std::string>;

// Before the files are written: a UsageError if one of them is an input of the report, or already exists in a
// folder that no report has written to. Lists them, so that the folder counts as a report's even if the
// program is killed while it writes.
void claim_folder(const std::filesystem::path& folder, const FileNames& files,
                  std::span<const std::filesystem::path> inputs);

// After they are written: removes what earlier reports wrote and this one did not.
void clear_stale(const std::filesystem::path& folder, const FileNames& files);

}  // namespace longtail::report
