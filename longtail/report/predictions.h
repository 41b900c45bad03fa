// The three predictions of the paper's theory tested on runs: (1) progressive matches uniform on head classes
// and beats it on tail classes; (2) class-balanced sampling has a volatile tail; (3) gaps widen with the
// imbalance. Judged like every difference of a report (family.h): by simultaneous intervals over strategies
// that share seeds, not by signs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "longtail/report/claims.h"
#include "longtail/report/results.h"

namespace longtail::report {

// A prediction and what the runs say about it: one claim per comparison, with only `rho` and `ours` filled
// in.
struct Prediction {
  std::string words{};
  std::vector<Claim> claims{};
  // "holds", "does not hold", "holds in part", "cannot be told"; where some comparisons cannot be told, in
  // how many of them it holds: "holds in 1 of 4 comparisons; the others cannot be told".
  std::string verdict() const;
};

// Always three, in the paper's order. The series must be named as the paper's: "uniform", "progressive", ...
std::vector<Prediction> judge_predictions(const Results& results);

// Root mean square of the change of a curve from one epoch to the next, from epoch `first` on. NaN for fewer
// than two epochs.
double volatility(std::span<const double> curve, int first);

}  // namespace longtail::report
