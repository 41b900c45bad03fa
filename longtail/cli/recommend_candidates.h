// The candidates of `longtail recommend`: a sampling strategy, alone or followed by remedies, each after a
// plus. A remedy mixes images, changes the loss, or rebuilds the classifier after training
// ("uniform+mixup:alpha=1+logit_adjust").
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "longtail/train/config.h"

namespace longtail::cli {

struct Candidate {
  std::string text{};    // canonical, as on the command line
  std::string words{};   // as the report names it: "uniform (mixup:alpha=1, rebalance=logit_adjust)"
  std::string series{};  // the name of its series in the report
  std::string strategy{}, augment{}, loss{}, rebalance{};  // settings of its runs, canonical

  bool is_of(const train::RunConfig& resolved) const;
  train::RunConfig applied_to(train::RunConfig config) const;
  bool trained() const { return rebalance == "none"; }
};

// The paper's four strategies, and uniform sampling whose logits are adjusted to the class sizes after
// training. The last needs no training of its own.
std::vector<std::string> default_candidates();

// `config` holds what all candidates share. What a candidate is rebalanced from is trained anyway, so it is
// added as a candidate before it. A UsageError if a candidate is given twice or there are fewer than two.
std::vector<Candidate> candidates_of(const std::vector<std::string>& texts, const train::RunConfig& config);

// How many of them need a training of their own.
int trainings(const std::vector<Candidate>& candidates);
std::size_t plain_uniform(const std::vector<Candidate>& candidates);  // its index; 0 if it is not there
// Sorted as the rows of the report's tables, so that texts and tables name them in the same order.
std::vector<Candidate> in_report_order(std::vector<Candidate> candidates);
// The index of the candidate that the one at `place` is rebalanced from.
std::optional<std::size_t> parent_of(const std::vector<Candidate>& candidates, std::size_t place);
std::vector<std::string> words_of(const std::vector<Candidate>& candidates);
std::vector<std::string> texts_of(const std::vector<Candidate>& candidates);

}  // namespace longtail::cli
