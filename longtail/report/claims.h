// The paper's conclusions, each tested on our numbers: it holds, it does not hold, or the runs that would
// tell are missing. The same code judges the paper's own numbers, where every claim must hold.
#pragma once

#include <string>
#include <vector>

#include "longtail/report/results.h"
#include "longtail/report/summary.h"
#include "longtail/report/table.h"

namespace longtail::report {

enum class Verdict { kHolds, kFails, kOpen };

struct Evidence {
  Verdict verdict = Verdict::kOpen;
  bool partial = false;  // from fewer seeds than the paper's
  std::string words{};   // "+2.72 points, 3 of 3 seeds"
};

struct Claim {
  std::string finding{};  // which of the paper's findings it belongs to
  std::string sentence{};
  std::string rho{};    // the ratio it is about: "100", "10, 100"
  std::string paper{};  // the paper's numbers, as Evidence::words
  Evidence ours{};
};

// "holds", "does not hold so far", "cannot be told": for people.
std::string verdict_words(const Evidence& evidence);

// The results must name their series and conditions as the paper does: "progressive", "100".
std::vector<Claim> judge_claims(const Results& ours, const Results& paper, const SummaryOptions& options);

Table claims_table(const std::vector<Claim>& claims);

// The paper's table of paired differences, progressive minus uniform, with ours under each of its rows. No
// rows if there is no pair.
Table paired_beside_paper(const Results& ours, const Results& paper, const SummaryOptions& options);

}  // namespace longtail::report
