#include "longtail/train/beginning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "longtail/base/error.h"
#include "longtail/train/alike.h"
#include "longtail/train/run_folder.h"

namespace longtail::train {

std::string common_part(const RunConfig& config) {
  std::istringstream identity(config_identity(config));
  std::string common;
  for (std::string line; std::getline(identity, line);) {
    if (!is_course(line.substr(0, line.find('=')))) common += line + "\n";
  }
  return common;
}

int alike_epochs(const RunConfig& a, const RunConfig& b) {
  return common_part(a) == common_part(b) ? same_course(resolved(a), resolved(b)) : 0;
}

bool keeps_before(const RunConfig& config, int epochs) {
  return std::any_of(config.keep_epochs.begin(), config.keep_epochs.end(),
                     [&](int kept) { return kept < epochs; });
}

std::filesystem::path branch_path(const std::filesystem::path& run, int epochs_done) {
  return run / "branch" / fmt::format("{}.ckpt", epochs_done);
}

Checkpoint continued(Checkpoint beginning, const std::filesystem::path& source, const RunConfig& config,
                     const Fingerprint& print) {
  std::map<std::string, std::string> expected = config_map(config);
  std::erase_if(expected, [](const auto& entry) { return is_course(entry.first); });
  for (const auto& entry : beginning.config) {
    if (is_course(entry.first)) expected.insert(entry);
  }
  refuse_other_config(source, beginning.config, expected);
  const int alike = alike_epochs(config, config_from_map(beginning.config));
  if (!beginning.log || beginning.epochs_done > alike || alike >= config.epochs) {
    base::fail("{}: the two runs are alike for {} epochs, and this is a state after {}", source.string(),
               alike, beginning.epochs_done);
  }
  refuse_other_fingerprint(source, beginning.log->fingerprint, print);
  beginning.config = config_map(config);
  beginning.log->config = logged_config(beginning.config);
  beginning.log->strategy = config.strategy;
  beginning.log->fingerprint = print;
  return beginning;
}

}  // namespace longtail::train
