// The paper's three predictions held against run logs: (1) progressive matches uniform on head classes and
// beats it on tail classes; (2) class-balanced sampling has a volatile tail; (3) gaps widen with the
// imbalance. Runs are paired by imbalance and seed; nothing is said where no pair exists.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "longtail/train/run_log.h"

namespace longtail::theory {

struct Evidence {
  std::string prediction;
  std::string verdict;             // for, against, mixed or "no runs"
  std::vector<std::string> lines;  // the numbers, a sentence each
};

// Always three, in the paper's order.
std::vector<Evidence> weigh_predictions(std::span<const train::RunLog> logs);

// Root mean square of the change of a curve from one epoch to the next, from epoch `first` on. NaN for less
// than two epochs.
double volatility(std::span<const double> curve, int first);

}  // namespace longtail::theory
