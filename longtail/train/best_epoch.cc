#include "longtail/train/best_epoch.h"

namespace longtail::train {

bool is_best_epoch(RunLog& log, const std::string& select, const EpochResult& chosen_on) {
  const auto first_highest = [&](const std::vector<double>& values) {
    return log.epochs() == 1 || values.back() > values[static_cast<std::size_t>(log.best_epoch)];
  };
  if (select == "last") return true;
  if (select == "overall") return first_highest(log.val_acc.empty() ? log.test_acc : log.val_acc);
  log.selection.push_back(select == "tail" ? chosen_on.tail : chosen_on.balanced);
  return first_highest(log.selection);
}

}  // namespace longtail::train
