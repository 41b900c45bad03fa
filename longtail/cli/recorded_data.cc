#include "longtail/cli/recorded_data.h"

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/data/arrays.h"
#include "longtail/data/registry.h"
#include "longtail/study/folder.h"

namespace longtail::cli {

std::string recorded_data(const std::filesystem::path& run) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(run, error);  // `network` is a link
  if (error || !base::present(folder / "run.json")) return "";
  train::RunConfig config;
  try {
    config = study::read_run(folder).config;
  } catch (const base::Error&) {  // then the data are searched as for any run
    return "";
  }
  if (config.data.empty() || !data::takes_dir(config.dataset) || base::present(config.data))
    return config.data;
  // The folder of the study may have been moved together with the data in it.
  const std::filesystem::path beside = folder.parent_path().parent_path() / "data";
  if (data::has_arrays(beside / config.dataset)) return beside.string();
  base::fail(
      "{}: its data were in {}, which is not there any more; bring that back, or say with --data DIR where "
      "they are",
      run.string(), config.data);
}

void place_data(train::RunConfig& config, const std::filesystem::path& run, const std::string& given) {
  if (given.empty()) {
    config.data = recorded_data(run);
  } else if (data::takes_dir(config.dataset)) {
    config.data = given;
  } else {
    config.dataset = config.dataset.substr(0, config.dataset.find(':') + 1) + given;
  }
}

void refuse_other_data(const train::Checkpoint& state, const data::Dataset& dataset,
                       const std::filesystem::path& run) {
  if (state.log->fingerprint.data == dataset.hash) return;
  base::fail(
      "the data set {} holds other images now than when the run in {} was trained; bring them back, or give "
      "the folder that has them with --data",
      dataset.name, run.string());
}

}  // namespace longtail::cli
