#include "longtail/cli/recorded_data.h"

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/study/folder.h"

namespace longtail::cli {

std::string recorded_data(const std::filesystem::path& run) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(run, error);  // `network` is a link
  if (error || !base::present(folder / "run.json")) return "";
  try {
    return study::read_run(folder).config.data;
  } catch (const base::Error&) {  // then it is looked for as that of any run
    return "";
  }
}

}  // namespace longtail::cli
