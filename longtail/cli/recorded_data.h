// Finds the data of a run, for commands that are given only its folder, and checks that they are the same
// data.
#pragma once

#include <filesystem>
#include <string>

#include "longtail/data/dataset.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"

namespace longtail::cli {

// The data folder that the study recorded for the run (`data`); empty if it recorded none, or the run is not
// part of a study. Data inside the folder of the study are found even if the study was moved. An Error names
// a folder that is needed but missing.
std::string recorded_data(const std::filesystem::path& run);

// Sets the location of the data in the configuration of the run: `given` (--data) if it is not empty, which
// then also replaces the DIR of `folder:DIR`; otherwise what the study recorded.
void place_data(train::RunConfig& config, const std::filesystem::path& run, const std::string& given);

// An Error unless the hash of the data is that of the data with which the run of `state` was trained.
void refuse_other_data(const train::Checkpoint& state, const data::Dataset& dataset,
                       const std::filesystem::path& run);

}  // namespace longtail::cli
