// Where the data of a run of a study are, for commands that are given its folder and nothing else.
#pragma once

#include <filesystem>
#include <string>

#include "longtail/train/config.h"

namespace longtail::cli {

// The folder that the study wrote down for the run (`data`); empty if it wrote none, or the run is of no study. Data
// that lay in the folder of the study are found where that is now. An Error names a folder that is needed and is gone.
std::string recorded_data(const std::filesystem::path& run);

// Puts into the configuration of the run where its data are: in `given` (--data), if that is not empty, which then stands
// for the DIR of `folder:DIR` too; otherwise where the study wrote. That they are the same data, their hash says.
void place_data(train::RunConfig& config, const std::filesystem::path& run, const std::string& given);

}  // namespace longtail::cli
