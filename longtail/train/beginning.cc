#include "longtail/train/beginning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/nn/loss.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/run_folder.h"
#include "longtail/train/schedule.h"

namespace longtail::train {
namespace {

// The parameters of what may change at an epoch.
constexpr std::array<std::string_view, 7> kCourse = {"loss",     "strategy",   "schedule",     "lr",
                                                     "lr_decay", "milestones", "warmup_epochs"};

// What a run does in each epoch, of the things that may change at one.
class Course {
 public:
  explicit Course(const RunConfig& config) : config_(resolved(config)) {
    const auto strategy = sampling::make_strategy(config_.strategy);
    strategy_change_ = strategy->deferral(config_.epochs);
    feedback_ = strategy->feedback();
    loss_change_ = nn::make_loss(config_.loss, {})->deferral(config_.epochs);
  }

  // What is told to a later strategy must have been measured from the start.
  bool measures_as(const Course& other) const { return feedback_ == other.feedback_; }
  bool same_at(int epoch, const Course& other) const {
    return strategy_at(epoch) == other.strategy_at(epoch) && loss_at(epoch) == other.loss_at(epoch) &&
           learning_rate(config_, epoch) == learning_rate(other.config_, epoch);
  }

 private:
  std::string strategy_at(int epoch) const {
    const bool first = strategy_change_ && epoch < strategy_change_->epoch;
    return sampling::canonical_strategy(first ? strategy_change_->first : config_.strategy);
  }
  std::string loss_at(int epoch) const {
    const bool first = loss_change_ && epoch < loss_change_->epoch;
    return nn::canonical_loss(first ? loss_change_->first : config_.loss);
  }

  RunConfig config_;
  std::optional<sampling::Deferral> strategy_change_, loss_change_;
  sampling::Feedback feedback_ = sampling::Feedback::kNone;
};

}  // namespace

std::string common_part(const RunConfig& config) {
  std::istringstream identity(config_identity(config));
  std::string common;
  for (std::string line; std::getline(identity, line);) {
    if (std::find(kCourse.begin(), kCourse.end(), line.substr(0, line.find('='))) == kCourse.end())
      common += line + "\n";
  }
  return common;
}

int alike_epochs(const RunConfig& a, const RunConfig& b) {
  if (common_part(a) != common_part(b)) return 0;
  const Course one(a), other(b);
  if (!one.measures_as(other)) return 0;
  int epoch = 0;
  while (epoch < a.epochs && one.same_at(epoch, other)) ++epoch;
  return epoch;
}

std::filesystem::path branch_path(const std::filesystem::path& run, int epochs_done) {
  return run / "branch" / fmt::format("{}.ckpt", epochs_done);
}

Checkpoint continued(Checkpoint beginning, const std::filesystem::path& source, const RunConfig& config,
                     const Fingerprint& print) {
  std::map<std::string, std::string> expected = config_map(config);
  for (const std::string_view key : kCourse) {
    expected.erase(std::string(key));
    const auto found = beginning.config.find(std::string(key));
    if (found != beginning.config.end()) expected.insert(*found);
  }
  refuse_other_config(source, beginning.config, expected);
  const int alike = alike_epochs(config, config_from_map(beginning.config));
  if (!beginning.log || beginning.epochs_done > alike || alike >= config.epochs) {
    base::fail("{}: the two runs are alike for {} epochs, and this is a state after {}", source.string(),
               alike, beginning.epochs_done);
  }
  refuse_other_fingerprint(source, beginning.log->fingerprint, print);
  beginning.config = config_map(config);
  beginning.log->config = beginning.config;
  beginning.log->strategy = config.strategy;
  beginning.log->fingerprint = print;
  return beginning;
}

}  // namespace longtail::train
