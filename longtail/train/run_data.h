// The images of a run: the part of the data set that is trained on, what is held out, what is tested.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "longtail/data/dataset.h"
#include "longtail/data/groups.h"
#include "longtail/data/subset.h"
#include "longtail/train/config.h"
#include "longtail/train/run.h"

namespace longtail::train {

struct RunData {
  std::shared_ptr<const data::Dataset> set;
  data::Subset subset;      // trained on
  data::Subset validation;  // held out; may be empty
  std::string subset_hash;  // of `subset`, as indices into the whole training split
  std::vector<data::Group> groups;
  std::vector<std::int32_t> test_rows;  // empty: all
};

// Uses `dataset`, `load` and `on_note` of the options. If it loads a data set itself, it drops the images
// that the run does not use. An Error if the configuration does not fit the data.
RunData load_run_data(const RunConfig& config, const RunOptions& options);

}  // namespace longtail::train
