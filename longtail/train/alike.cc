#include "longtail/train/alike.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "longtail/nn/loss.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/schedule.h"

namespace longtail::train {
namespace {

// The parameters of everything that may change at an epoch.
constexpr std::array<std::string_view, 7> kCourse = {"loss",     "strategy",   "schedule",     "lr",
                                                     "lr_decay", "milestones", "warmup_epochs"};

// What a run does in each epoch, as far as it may change between epochs.
class Course {
 public:
  explicit Course(const RunConfig& config) : config_(config) {
    const auto strategy = sampling::make_strategy(config_.strategy);
    strategy_change_ = strategy->deferral(config_.epochs);
    feedback_ = strategy->feedback();
    loss_change_ = nn::make_loss(config_.loss, {})->deferral(config_.epochs);
  }

  // The accuracies that a later strategy needs must have been measured from the start.
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

  const RunConfig& config_;
  std::optional<sampling::Deferral> strategy_change_, loss_change_;
  sampling::Feedback feedback_ = sampling::Feedback::kNone;
};

// The parameters that runs with a shared training have in common.
std::map<std::string, std::string> lasting(const RunConfig& config) {
  std::map<std::string, std::string> map = config_map(config);
  std::erase_if(map, [](const auto& entry) {
    return is_course(entry.first) || entry.first == "seed" || entry.first == "rebalance";
  });
  return map;
}

}  // namespace

bool is_course(std::string_view param) {
  return std::find(kCourse.begin(), kCourse.end(), param) != kCourse.end();
}

int same_course(const RunConfig& a, const RunConfig& b) {
  const Course one(a), other(b);
  if (!one.measures_as(other)) return 0;
  int epoch = 0;
  while (epoch < a.epochs && one.same_at(epoch, other)) ++epoch;
  return epoch;
}

bool same_beginning(const RunConfig& a, const RunConfig& b) {
  const Course one(a), other(b);
  return one.measures_as(other) && one.same_at(0, other);
}

std::vector<int> shared_trainings(std::span<const RunConfig> runs) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    int number = static_cast<int>(i);
    for (std::size_t before = 0; before < i && number == static_cast<int>(i); ++before) {
      if (lasting(runs[before]) == lasting(runs[i]) && same_beginning(runs[before], runs[i]))
        number = numbers[before];
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace longtail::train
