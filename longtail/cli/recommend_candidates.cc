#include "longtail/cli/recommend_candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/data/augmenter.h"
#include "longtail/nn/loss.h"
#include "longtail/report/results.h"
#include "longtail/sampling/shown.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::cli {
namespace {

bool names(const std::vector<base::VariantInfo>& variants, const std::string& name) {
  return std::any_of(variants.begin(), variants.end(), [&](const auto& one) { return one.name == name; });
}

bool mixes(const std::string& name) {
  return names(data::augmentations(), name) && name != "none" && name != "crop_flip";
}

[[noreturn]] void refuse_remedy(const std::string& name, const std::string& text) {
  std::vector<std::string> known;
  for (const auto* variants : {&train::rebalance_methods(), &data::augmentations(), &nn::losses()}) {
    for (const base::VariantInfo& one : *variants) {
      if (one.name != "none" && one.name != "crop_flip" && one.name != "cross_entropy")
        known.push_back(one.name);
    }
  }
  base::fail<base::UsageError>(
      "`{}` in `{}` is no remedy: there are ways to mix images (mixup), losses (logit_adjusted) and ways to "
      "rebuild the classifier (logit_adjust), all in docs/remedies.md{}",
      name, text, base::did_you_mean(name, known));
}

// Parses "uniform+mixup:alpha=1+crt", on top of the settings that all candidates share.
Candidate parsed(const std::string& text, const train::RunConfig& config) {
  const std::vector<std::string> links = base::split_chain(text);
  Candidate made{.strategy = sampling::canonical_strategy(links[0]),
                 .augment = data::Augmenter::parse(config.augment).name(),
                 .loss = nn::canonical_loss(config.loss),
                 .rebalance = train::kNoRebalance};
  std::string mixing, loss;
  for (std::size_t i = 1; i < links.size(); ++i) {
    const std::string name = base::read_choice("remedy", links[i]).name;
    std::string* part = names(train::rebalance_methods(), name) ? &made.rebalance
                        : mixes(name)                           ? &mixing
                        : names(nn::losses(), name)             ? &loss
                                                                : nullptr;
    if (!part) refuse_remedy(name, text);
    if (!part->empty() && *part != train::kNoRebalance)
      base::fail<base::UsageError>("`{}` has two remedies of a kind: `{}` and `{}`", text, *part, links[i]);
    *part = part == &made.rebalance ? train::canonical_rebalance(links[i]) : links[i];
  }
  if (!mixing.empty()) {
    const bool moves = made.augment != "none";
    made.augment = data::Augmenter::parse(moves ? made.augment + "+" + mixing : mixing).name();
    mixing = base::split_chain(made.augment).back();
  }
  if (!loss.empty()) loss = nn::canonical_loss(loss);
  if (loss == made.loss) loss.clear();  // the common loss is left out, so that each candidate has one text
  if (!loss.empty()) made.loss = loss;
  made.text = made.strategy;
  for (const std::string& part : {mixing, loss, made.trained() ? "" : made.rebalance})
    made.text += part.empty() ? "" : "+" + part;
  return made;
}

// Strategies are separate words; a comma separates the parameters of one strategy.
void refuse_commas(const std::string& text) {
  const std::size_t at = text.find_first_of(",:(");
  if (at == std::string::npos || text[at] != ',') return;
  // Only if no strategy has parameters is every comma known to separate strategies.
  if (text.find_first_of(":(") != std::string::npos)
    base::fail<base::UsageError>("--strategies are separated by blanks, not by commas as in `{}`", text);
  std::string words = text;
  std::replace(words.begin(), words.end(), ',', ' ');
  base::fail<base::UsageError>(
      "--strategies are separated by blanks, not by commas: write `{}` instead of `{}`", words, text);
}

// A race only compares runs that train on all training images.
void refuse_held_out(const Candidate& one) {
  if (sampling::make_strategy(one.strategy)->feedback() != sampling::Feedback::kHeldOut) return;
  base::fail<base::UsageError>(
      "`{}` needs held-out images, and `recommend` holds none out; compare it by a study with `val_fraction`",
      one.strategy);
}

Candidate parent_of_one(const Candidate& one) {
  Candidate parent = one;
  parent.rebalance = train::kNoRebalance;
  parent.text = one.text.substr(0, one.text.size() - one.rebalance.size() - 1);
  return parent;
}

// Names the candidates as the report names its series: by what differs between them.
void name(std::vector<Candidate>& candidates) {
  std::map<std::string, std::set<std::string>> values;
  const auto settings = [](const Candidate& one) {
    return std::map<std::string, std::string>{
        {"augment", one.augment}, {"loss", one.loss}, {"rebalance", one.rebalance}};
  };
  for (const Candidate& one : candidates) {
    for (const auto& [key, value] : settings(one)) values[key].insert(value);
  }
  for (Candidate& one : candidates) {
    auto said = settings(one);
    std::erase_if(said, [&](const auto& entry) { return values[entry.first].size() < 2; });
    const report::Series series(one.strategy, report::beside_strategy(said));
    one.words = series.words();
    one.series = series.text();
  }
}

}  // namespace

bool Candidate::is_of(const train::RunConfig& resolved) const {
  return resolved.strategy == strategy && resolved.augment == augment && resolved.loss == loss &&
         resolved.rebalance == rebalance;
}

train::RunConfig Candidate::applied_to(train::RunConfig config) const {
  config.strategy = strategy;
  config.augment = augment;
  config.loss = loss;
  config.rebalance = rebalance;
  return config;
}

std::vector<std::string> default_candidates() {
  std::vector<std::string> texts = sampling::paper_strategies();
  texts.push_back("uniform+logit_adjust");
  return texts;
}

std::vector<Candidate> candidates_of(const std::vector<std::string>& texts, const train::RunConfig& config) {
  std::vector<Candidate> given, all;
  for (const std::string& text : texts) {
    refuse_commas(text);
    given.push_back(parsed(text, config));
    refuse_held_out(given.back());
    const auto same = [&](const Candidate& one) { return one.text == given.back().text; };
    if (std::count_if(given.begin(), given.end(), same) > 1)
      base::fail<base::UsageError>("--strategies has `{}` twice{}", given.back().text,
                                   text == given.back().text ? "" : fmt::format(" (`{}` is the same)", text));
  }
  const auto has = [](const std::vector<Candidate>& list, const Candidate& wanted) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.text == wanted.text; });
  };
  for (const Candidate& one : given) {
    if (!one.trained()) {
      const Candidate parent = parent_of_one(one);
      if (!has(given, parent) && !has(all, parent)) all.push_back(parent);
    }
    all.push_back(one);
  }
  if (all.size() < 2)
    base::fail<base::UsageError>("one strategy is no choice; give --strategies two or more");
  name(all);
  return all;
}

int trainings(const std::vector<Candidate>& candidates) {
  return static_cast<int>(std::count_if(candidates.begin(), candidates.end(),
                                        [](const Candidate& one) { return one.trained(); }));
}

std::size_t plain_uniform(const std::vector<Candidate>& candidates) {
  const auto at = std::find_if(candidates.begin(), candidates.end(),
                               [](const Candidate& one) { return one.text == "uniform"; });
  return at == candidates.end() ? 0 : static_cast<std::size_t>(at - candidates.begin());
}

std::vector<Candidate> in_report_order(std::vector<Candidate> candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(sampling::strategy_place(a.strategy), a.series) <
           std::tuple(sampling::strategy_place(b.strategy), b.series);
  });
  return candidates;
}

std::optional<std::size_t> parent_of(const std::vector<Candidate>& candidates, std::size_t place) {
  if (candidates[place].trained()) return std::nullopt;
  const std::string wanted = parent_of_one(candidates[place]).text;
  const auto at = std::find_if(candidates.begin(), candidates.end(),
                               [&](const Candidate& one) { return one.text == wanted; });
  return at == candidates.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(at - candidates.begin()));
}

std::vector<std::string> words_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> words;
  words.reserve(candidates.size());
  for (const Candidate& one : candidates) words.push_back(one.words);
  return words;
}

std::vector<std::string> texts_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> texts;
  texts.reserve(candidates.size());
  for (const Candidate& one : candidates) texts.push_back(one.text);
  return texts;
}

}  // namespace longtail::cli
