// What `longtail recommend` chooses from: a sampling strategy, alone or with remedies after a plus: a way of mixing
// images, a loss, a classifier made anew after training ("uniform+mixup:alpha=1+logit_adjust").
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "longtail/train/config.h"

namespace longtail::cli {

struct Candidate {
  std::string text{};    // canonical, as on the command line
  std::string words{};   // as the report calls it: "uniform (mixup:alpha=1, rebalance=logit_adjust)"
  std::string series{};  // the text of its series in the report
  std::string strategy{}, augment{}, loss{}, rebalance{};  // of its runs, canonical

  bool is_of(const train::RunConfig& resolved) const;
  train::RunConfig applied_to(train::RunConfig config) const;
  bool trained() const { return rebalance == "none"; }
};

// The paper's four strategies, and uniform sampling with its logits adjusted to the class sizes afterwards, which
// takes no training of its own.
std::vector<std::string> default_candidates();

// `config` says what all of them share. Whatever one is rebalanced from is trained anyway, so it is a candidate too
// and stands before it. A UsageError if one stands there twice or there is nothing to choose.
std::vector<Candidate> candidates_of(const std::vector<std::string>& texts, const train::RunConfig& config);

// How many of them are trained.
int trainings(const std::vector<Candidate>& candidates);
std::size_t plain_uniform(const std::vector<Candidate>& candidates);  // its place; the first without one
// As the rows of the report's tables are, so that sentences of both name them in the same order.
std::vector<Candidate> in_report_order(std::vector<Candidate> candidates);
// The place of the candidate that another is rebalanced from.
std::optional<std::size_t> parent_of(const std::vector<Candidate>& candidates, std::size_t place);
std::vector<std::string> words_of(const std::vector<Candidate>& candidates);
std::vector<std::string> texts_of(const std::vector<Candidate>& candidates);

}  // namespace longtail::cli
