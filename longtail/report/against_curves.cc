// The training loss next to the published curves: a wrong protocol shows at epoch 20, not at epoch 200.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "longtail/base/text.h"
#include "longtail/report/against.h"
#include "longtail/report/embedded.h"

namespace longtail::report {
namespace {

// First and last epoch, counted from 1: after the warm-up, while the rate is high, and after it has fallen.
constexpr std::array<std::pair<int, int>, 5> kStretches = {
    {{11, 20}, {21, 50}, {51, 100}, {101, 150}, {171, 180}}};
// Up to this epoch the rate is high and the momentum shows.
constexpr int kTelling = 150;
// Runs of one protocol differ from each other by less than this (docs/reproduction.md).
constexpr double kNear = 0.05;

double mean_of(const std::vector<double>& curve, std::pair<int, int> stretch) {
  if (static_cast<int>(curve.size()) < stretch.second) return kMissing;
  double sum = 0;
  for (int e = stretch.first; e <= stretch.second; ++e) sum += curve[static_cast<std::size_t>(e - 1)];
  return sum / (stretch.second - stretch.first + 1);
}

struct Published {
  double rho = 0;
  std::string strategy;
  std::vector<double> loss;
};

std::vector<Published> published_curves() {
  std::vector<Published> all;
  for (const std::string& line : base::split(embedded("published_curves.csv"), '\n')) {
    const std::vector<std::string> cells = base::split(line, ',');
    if (line.empty() || line[0] == '#' || cells[0] == "rho") continue;
    const double rho = base::parse_real(cells.at(0)).value();
    if (all.empty() || all.back().strategy != cells.at(1) || all.back().rho != rho)
      all.push_back({rho, cells.at(1), {}});
    all.back().loss.push_back(base::parse_real(cells.at(4)).value());
  }
  return all;
}

// "12 runs had Nesterov's momentum, as the paper's text says. ..."
std::string momentum_words(const std::string& kind, int all, int beside_curves, double ratio) {
  const std::string momentum = kind == "plain"      ? "plain momentum"
                               : kind == "Nesterov" ? "Nesterov's momentum, as the paper's text says"
                                                    : "a momentum that the logs do not tell";
  const bool some = beside_curves < all;
  const std::string whose = some       ? fmt::format("the training loss of the {} that {} a published curve",
                                                     beside_curves, beside_curves == 1 ? "has" : "have")
                            : all == 1 ? "its training loss"
                                       : "their training loss";
  return fmt::format(
      "Momentum: {} run{} had {}. While the learning rate is high (epochs 11 to {}) {} is {}% {} {}: {}.",
      all, all == 1 ? "" : "s", momentum, kTelling, whose, fixed(100 * std::abs(ratio - 1), 0),
      ratio < 1 ? "below" : "above", some ? "it" : "the published one",
      std::abs(ratio - 1) < kNear
          ? "the protocol that the published curves have"
          : "not the protocol of the published curves (studies/paper-as-run.toml has plain momentum)");
}

}  // namespace

void compare_curves(const Results& results, Against& against) {
  Table table{
      .id = "against_curves",
      .caption = "Mean training loss by stretches of epochs, beside the paper's published curves (seed 42)."};
  table.columns = {{"ρ", true, true},
                   {"Strategy", true, true},
                   {"Momentum", true, true},
                   {"Epochs", true},
                   {"Published"},
                   {"Ours"},
                   {"Lowest"},
                   {"Highest"},
                   {"Runs"},
                   {"Ours / published"}};
  std::map<std::string, int> all, beside_curves;      // runs by momentum
  std::map<std::string, std::vector<double>> ratios;  // by momentum, while the rate is high
  const auto as_the_paper = [](const RunResult& run) {
    return run.log && protocol_differences(protocol_of(run), paper_protocol()).empty();
  };
  for (const RunResult& run : results.runs) all[momentum_of(run)] += as_the_paper(run);
  for (const Published& theirs : published_curves()) {
    std::map<std::string, std::vector<const RunResult*>> groups;
    for (const RunResult& run : results.runs) {
      if (run.strategy == theirs.strategy && run.rho == theirs.rho && as_the_paper(run))
        groups[momentum_of(run)].push_back(&run);
    }
    for (const auto& [kind, runs] : groups) {
      beside_curves[kind] += static_cast<int>(runs.size());
      for (const auto& stretch : kStretches) {
        const double published = mean_of(theirs.loss, stretch);
        std::vector<double> ours;
        for (const RunResult* run : runs) {
          const double one = mean_of(run->log->train_loss, stretch);
          if (std::isfinite(one)) ours.push_back(one);
        }
        if (ours.empty() || !std::isfinite(published)) continue;
        const auto [low, high] = std::minmax_element(ours.begin(), ours.end());
        const double ratio = mean(ours) / published;
        if (stretch.second <= kTelling) ratios[kind].push_back(ratio);
        table.rows.push_back({text(fmt::format("{:g}", theirs.rho)), text(Series(theirs.strategy).title()),
                              text(kind), text(fmt::format("{}–{}", stretch.first, stretch.second)),
                              number(published, 3), number(mean(ours), 3), number(*low, 3), number(*high, 3),
                              number(static_cast<double>(ours.size()), 0), number(ratio, 2)});
      }
    }
  }
  for (const auto& [kind, found] : ratios)
    against.statements.push_back(momentum_words(kind, all[kind], beside_curves[kind], mean(found)));
  if (!table.rows.empty()) against.tables.push_back(std::move(table));
}

}  // namespace longtail::report
