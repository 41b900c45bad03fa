#include "longtail/cli/theory_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "longtail/base/text.h"
#include "longtail/cli/text_table.h"
#include "longtail/sampling/strategy.h"
#include "longtail/theory/export.h"

namespace longtail::cli {
namespace {

using theory::Forecast;

int largest_class(std::span<const std::int64_t> counts) {
  return static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

// The smallest class that has images; the last one in a tie.
int smallest_class(std::span<const std::int64_t> counts) {
  int smallest = largest_class(counts);
  for (int k = 0; k < static_cast<int>(counts.size()); ++k) {
    if (counts[k] > 0 && counts[k] <= counts[smallest]) smallest = k;
  }
  return smallest;
}

std::string heading(const TheoryReport& report) {
  const auto n = std::accumulate(report.counts.begin(), report.counts.end(), std::int64_t{0});
  const auto sizes = report.groups.trained_sizes(report.counts);
  return sentences(
             "What the class sizes alone say of the gradient of a mini-batch; nothing is trained. Drawing "
             "rare "
             "classes more often moves the mean of the gradient away from that of uniform sampling (bias) "
             "and "
             "changes how much it varies from one batch to the next (variance). A good strategy for the tail "
             "pays little of both; what it brings in accuracy only a training tells.") +
         "\n" +
         sentences(fmt::format(
             "{}: {} images in {} classes, the largest {}, the smallest {}; {} head, {} medium, "
             "{} tail classes (`{}`); batches of {}, {} epochs.",
             report.title, base::with_commas(n), sampling::classes_with_images(report.counts),
             report.counts[largest_class(report.counts)], report.counts[smallest_class(report.counts)],
             sizes[0], sizes[1], sizes[2], report.groups.name(), report.assumptions.batch, report.epochs));
}

// The name of the strategy, with the epoch if several of its epochs are shown.
std::string label(const TheoryReport& report, const Forecast& f) {
  const auto times = std::count_if(report.shown.begin(), report.shown.end(),
                                   [&](const Forecast& other) { return other.strategy == f.strategy; });
  return times > 1 ? fmt::format("{}, epoch {}", f.strategy, f.situation.epoch) : f.strategy;
}

std::string weights_text(const TheoryReport& report) {
  const int head = largest_class(report.counts), tail = smallest_class(report.counts);
  TextTable table({"strategy", "share of\nlargest", "share of\nsmallest", "largest\nin batch",
                   "smallest\nin batch", "smallest\nabsent"});
  TextTable distances({"strategy", "lambda", "1-norm", "2-norm", "total variation"});
  for (const Forecast& f : report.shown) {
    table.add({label(report, f), fmt::format("{:.3f}%", 100 * f.classes[head].weight),
               fmt::format("{:.4f}%", 100 * f.classes[tail].weight),
               fmt::format("{:.2f}", f.classes[head].expected),
               fmt::format("{:.4f}", f.classes[tail].expected),
               fmt::format("{:.1f}%", 100 * f.classes[tail].absence)});
    distances.add({label(report, f), fmt::format("{:.3f}", f.lambda), fmt::format("{:.4f}", f.deviation.one),
                   fmt::format("{:.4f}", f.deviation.two),
                   fmt::format("{:.4f}", f.deviation.total_variation)});
  }
  return "\n" +
         sentences(
             "The largest and the smallest class: share of the draws, expected images in a batch, chance "
             "that a batch has none of the smallest") +
         table.text() + "\n" +
         sentences(
             "How far the draws are from the class frequencies (lambda: 0 as they are, 1 all classes "
             "equally often)") +
         distances.text();
}

std::string formulas_text(const TheoryReport& report) {
  const int head = largest_class(report.counts), tail = smallest_class(report.counts);
  TextTable paper({"strategy", "bias^2", "variance", "MSE", "part of\nlargest", "part of\nsmallest"});
  TextTable exact(
      {"strategy", "variance", "within", "between", "MSE", "part of\nlargest", "part of\nsmallest"});
  const auto ratio = [](double value) {  // relative to a variance that may be 0 (--sigma2 0)
    return std::isfinite(value) ? fmt::format("x{:.{}f}", value, value < 10 ? 2 : 1) : "-";
  };
  for (const Forecast& f : report.shown) {
    const theory::Decomposition& d = f.total;
    paper.add({label(report, f), fmt::format("{:.3g}", d.bias2), fmt::format("{:.3g}", d.proposition),
               fmt::format("{:.3g}", d.proposition_mse()), ratio(f.classes[head].proposition_ratio),
               ratio(f.classes[tail].proposition_ratio)});
    exact.add({label(report, f), fmt::format("{:.3g}", d.variance()), fmt::format("{:.3g}", d.within),
               fmt::format("{:.3g}", d.between), fmt::format("{:.3g}", d.mse()),
               ratio(f.classes[head].exact_ratio), ratio(f.classes[tail].exact_ratio)});
  }
  return "\n" +
         sentences(
             fmt::format("Bias and variance of the gradient by the paper's Proposition 1, sum w^2 sigma^2 / "
                         "(b n_k), if every class has sigma^2 = {:g} and orthogonal mean gradients of "
                         "squared length {:g} (--sigma2, --norm2; `longtail probe` measures them). Parts "
                         "are those of uniform draws with replacement times this",
                         report.assumptions.sigma2, report.assumptions.norm2)) +
         paper.text() + "\n" +
         sentences(
             "The exact variance of a mini-batch, 1/b [sum w (sigma^2 + |g|^2) - |sum w g|^2], within and "
             "between classes; uniform without replacement times (n - b)/(n - 1). Proposition 1 is no "
             "mini-batch variance: docs/theory.md tells when it is a proxy") +
         exact.text();
}

std::string summary_text(const TheoryReport& report) {
  TextTable table({"strategy", "bias^2", "head variance", "tail variance"});
  for (const auto& row : report.summary)
    table.add({row.strategy, row.bias, row.head_variance, row.tail_variance});
  return "\nThe paper's summary (bias by the 2-norm, variance by Proposition 1)\n" + table.text();
}

struct GroupExposure {
  double images = 0, expected = 0, mean = 0;
  std::int64_t most = 0;
};

std::string exposure_text(const TheoryReport& report) {
  TextTable table({"strategy", "head\nexpected", "head\ncounted", "medium\nexpected", "medium\ncounted",
                   "tail\nexpected", "tail\ncounted"});
  TextTable images(
      {"strategy", "most often\ndrawn", "never\ndrawn", "effective\nimages", "distinct\nper epoch"});
  for (const theory::Exposure& e : report.exposures) {
    std::vector<GroupExposure> groups(3);
    std::int64_t most = 0;
    for (const theory::ClassExposure& one : e.classes) {
      if (one.count == 0) continue;
      GroupExposure& group = groups[static_cast<std::size_t>(report.groups.of(one.count))];
      group.images += static_cast<double>(one.count);
      group.expected += one.expected * static_cast<double>(one.count);
      group.mean += one.mean * static_cast<double>(one.count);
      most = std::max(most, one.most);
    }
    std::vector<std::string> row = {e.strategy};
    for (const GroupExposure& group : groups) {
      const bool any = group.images > 0;
      row.push_back(any ? fmt::format("{:.1f}", group.expected / group.images) : "-");
      row.push_back(any ? fmt::format("{:.1f}", group.mean / group.images) : "-");
    }
    table.add(std::move(row));
    images.add({e.strategy, base::with_commas(most), base::with_commas(e.never),
                base::with_commas(std::llround(e.effective)),
                base::with_commas(std::llround(e.distinct_an_epoch))});
  }
  return "\n" +
         sentences(fmt::format(
             "How often an image is drawn in {} epochs, mean over the images of a group: expected, "
             "and counted in the index streams",
             report.epochs)) +
         table.text() + "\n" +
         sentences(
             "How often the most often drawn image is drawn, images never drawn, effective number of images "
             "(Kish), distinct images per epoch") +
         images.text();
}

}  // namespace

std::string predictions_text(std::span<const report::Prediction> predictions) {
  std::string out = "\nThe paper's predictions\n";
  int number = 0;
  for (const report::Prediction& one : predictions) {
    out += fmt::format("  {}. {}: {}\n", ++number, one.words, one.verdict());
    for (const report::Claim& claim : one.claims) {
      out += fmt::format("     rho {}, {}: {}; {}\n", claim.rho, claim.sentence,
                         report::verdict_words(claim.ours), claim.ours.words);
    }
  }
  return out + "  (95% intervals, together for all strategies of a metric: docs/report.md)\n";
}

std::string theory_text(const TheoryReport& report) {
  std::string out = heading(report) + weights_text(report) + formulas_text(report) + summary_text(report);
  if (!report.exposures.empty()) out += exposure_text(report);
  if (!report.predictions.empty()) out += predictions_text(report.predictions);
  return out;
}

std::string theory_json(const TheoryReport& report) {
  using nlohmann::json;
  json result = {
      {"title", report.title},
      {"class_counts", report.counts},
      {"groups", report.groups.name()},
      {"batch_size", report.assumptions.batch},
      {"epochs", report.epochs},
      {"assumptions", {{"sigma2", report.assumptions.sigma2}, {"norm2", report.assumptions.norm2}}}};
  for (const Forecast& f : report.shown) result["forecasts"].push_back(theory::to_json(f));
  for (const auto& course : report.courses) {
    json one = {{"strategy", course.front().strategy}};
    for (const Forecast& f : course) {
      one["lambda"].push_back(f.lambda);
      one["deviation_two_norm"].push_back(f.deviation.two);
      one["bias2"].push_back(f.total.bias2);
      one["proposition_mse"].push_back(f.total.proposition_mse());
      one["exact_mse"].push_back(f.total.mse());
    }
    result["by_epoch"].push_back(std::move(one));
  }
  for (const auto& row : report.summary) result["summary"].push_back(theory::to_json(row));
  for (const auto& exposure : report.exposures) result["exposure"].push_back(theory::to_json(exposure));
  for (const report::Prediction& one : report.predictions) {
    json claims = json::array();
    for (const report::Claim& claim : one.claims)
      claims.push_back({{"claim", claim.sentence},
                        {"rho", claim.rho},
                        {"verdict", report::verdict_words(claim.ours)},
                        {"numbers", claim.ours.words}});
    result["predictions"].push_back(
        {{"prediction", one.words}, {"verdict", one.verdict()}, {"evidence", std::move(claims)}});
  }
  return result.dump(1) + "\n";
}

}  // namespace longtail::cli
