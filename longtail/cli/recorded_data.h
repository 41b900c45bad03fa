// Where the data of a run of a study are, for commands that are given its folder and nothing else.
#pragma once

#include <filesystem>
#include <string>

namespace longtail::cli {

// The folder that the study wrote down for the run (`data`); empty if it wrote none, or the run is of no study.
std::string recorded_data(const std::filesystem::path& run);

}  // namespace longtail::cli
