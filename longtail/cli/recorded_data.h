// Where the data of a run are now, for commands that are given its folder and nothing else, and whether they are the same.
#pragma once

#include <filesystem>
#include <string>

#include "longtail/data/dataset.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"

namespace longtail::cli {

// The folder that the study wrote down for the run (`data`); empty if it wrote none, or the run is of no study. Data
// that lay in the folder of the study are found where that is now. An Error names a folder that is needed and is gone.
std::string recorded_data(const std::filesystem::path& run);

// Puts into the configuration of the run where its data are: in `given` (--data), if that is not empty, which then stands
// for the DIR of `folder:DIR` too; otherwise where the study wrote.
void place_data(train::RunConfig& config, const std::filesystem::path& run, const std::string& given);

// An Error unless the data are, by their hash, those that the run of that state was trained with.
void refuse_other_data(const train::Checkpoint& state, const data::Dataset& dataset,
                       const std::filesystem::path& run);

}  // namespace longtail::cli
