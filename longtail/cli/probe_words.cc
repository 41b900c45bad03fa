#include "longtail/cli/probe_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "longtail/base/text.h"
#include "longtail/cli/text_table.h"
#include "longtail/theory/export.h"

namespace longtail::cli {
namespace {

using theory::Decomposition;
using theory::ProbeResult;
using theory::StrategyProbe;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-"; }
// A ratio rounded to an integer.
std::string whole(double value) {
  return std::isfinite(value) ? base::with_commas(std::llround(value)) : "-";
}
std::string times(double value) {
  return std::isfinite(value) ? fmt::format("x{:.{}f}", value, value < 10 ? 2 : 1) : "-";
}

const StrategyProbe* find(const ProbeResult& result, std::string_view strategy) {
  for (const StrategyProbe& one : result.strategies) {
    if (one.strategy == strategy) return &one;
  }
  return nullptr;
}

int smallest_class(const theory::Moments& moments) {
  int smallest = 0;
  for (int k = 0; k < moments.classes(); ++k) {
    if (moments.counts[k] > 0 &&
        (moments.counts[k] <= moments.counts[smallest] || moments.counts[smallest] == 0)) {
      smallest = k;
    }
  }
  return smallest;
}

std::string gradients_text(const ProbeReport& report, const ProbeResult& result) {
  TextTable table({"group", "classes", "images", "|g_k|^2", "sigma_k^2", "lowest", "highest",
                   "sigma^2\n/ |g|^2", "cosine"});
  for (int g = 0; g < 3; ++g) {
    double classes = 0, images = 0, norm2 = 0, within = 0, low = INFINITY, high = 0, cosine = 0;
    for (int k = 0; k < result.moments.classes(); ++k) {
      const std::int64_t count = result.moments.counts[k];
      if (count == 0 || report.group_of[static_cast<std::size_t>(k)] != static_cast<data::Group>(g)) continue;
      ++classes;
      images += static_cast<double>(count);
      norm2 += result.moments.product(k, k);
      within += result.moments.within[k];
      low = std::min(low, result.moments.within[k]);
      high = std::max(high, result.moments.within[k]);
      cosine += result.cosines[k];
    }
    if (classes == 0) continue;
    table.add({std::string(data::kGroupNames[g]), number(classes), base::with_commas(std::llround(images)),
               number(norm2 / classes), number(within / classes), number(low), number(high),
               number(within / norm2), fmt::format("{:.3f}", cosine / classes)});
  }
  return "\n" +
         sentences(
             "Gradients of the classes, averaged over a group: squared length of the mean gradient, variance "
             "within the class with its lowest and highest value (the paper's assumption A2 says that it is "
             "the same everywhere), cosine with "
             "the full gradient") +
         table.text();
}

std::string formulas_text(const ProbeReport& report, const ProbeResult& result) {
  TextTable exact({"strategy", "bias^2", "within\nclasses", "between\nclasses", "variance", "MSE"});
  TextTable measured({"strategy", "mini-\nbatches", "s.e.", "off the\nexact by", "Prop. 1",
                      "exact /\nProp. 1", "off\nProp. 1 by"});
  for (const StrategyProbe& one : result.strategies) {
    const Decomposition& d = one.total;
    exact.add({one.strategy, number(d.bias2), number(d.within), number(d.between), number(d.variance()),
               number(d.mse())});
    std::vector<std::string> row = {one.strategy, "-", "-", "-"};
    if (one.frozen) {
      const theory::Estimate& v = one.frozen->variance;
      row = {one.strategy, number(v.value), number(v.error),
             fmt::format("{:+.2f} s.e.", v.distance(d.variance()))};
    }
    row.push_back(number(d.proposition));
    row.push_back(whole(d.variance() / d.proposition));
    row.push_back(one.frozen ? fmt::format("{:+.0f} s.e.", one.frozen->variance.distance(d.proposition))
                             : "-");
    measured.add(std::move(row));
  }
  return "\n" +
         sentences(fmt::format(
             "The gradient of a mini-batch of {} with frozen batch norm, by the exact formula on the "
             "measured moments",
             report.batch)) +
         exact.text() + "\n" +
         sentences(
             "Its variance in real mini-batches, with its standard error and how many of them it is off the "
             "exact formula (2 is chance), and Proposition 1 on the same moments") +
         measured.text();
}

std::string frozen_text(const ProbeResult& result) {
  TextTable table({"strategy", "along\nexpected", "s.e.", "miss"});
  bool any = false;
  for (const StrategyProbe& one : result.strategies) {
    if (!one.frozen) continue;
    any = true;
    table.add({one.strategy, fmt::format("{:.4f}", one.frozen->along.value),
               fmt::format("{:.4f}", one.frozen->along.error), fmt::format("{:.2f}", one.frozen->mean_miss)});
  }
  if (!any) return "";
  return "\n" +
         sentences(
             "The mean of the same mini-batches: its component along the expected gradient (1 is right) and "
             "its "
             "squared miss over what is expected (about 1 is right)") +
         table.text();
}

std::string training_text(const ProbeResult& result) {
  TextTable table({"strategy", "variance", "s.e.", "over\nfrozen", "bias^2", "cosine"});
  bool any = false;
  for (const StrategyProbe& one : result.strategies) {
    if (!one.training) continue;
    any = true;
    const auto& v = one.training->sample.variance;
    table.add({one.strategy, number(v.value), number(v.error), times(v.value / one.total.variance()),
               one.training->bias2 ? number(*one.training->bias2) : "-",
               fmt::format("{:.3f}", one.training->cosine)});
  }
  if (!any) return "";
  return "\n" +
         sentences(
             "Batch norm in training mode, where no formula holds: variance, bias against uniform, cosine of "
             "its "
             "mean gradient with the frozen one") +
         table.text();
}

std::string groups_text(const ProbeResult& result) {
  const StrategyProbe* uniform = find(result, "uniform");
  if (uniform == nullptr) return "";
  const int tail = smallest_class(result.moments);
  const std::vector<std::string> header = {"strategy",        "head",           "medium", "tail",
                                           "smallest\nclass", "whole\ngradient"};
  TextTable exact(header), proposition(header);
  for (const StrategyProbe& one : result.strategies) {
    std::vector<std::string> own = {one.strategy}, paper = {one.strategy};
    const auto add = [&](const Decomposition& part, const Decomposition& base) {
      own.push_back(times(part.variance() / base.variance()));
      paper.push_back(times(part.proposition / base.proposition));
    };
    for (int g = 0; g < 3; ++g) add(one.groups[g], uniform->groups[g]);
    add(one.classes[tail], uniform->classes[tail]);
    add(one.total, uniform->total);
    exact.add(std::move(own));
    proposition.add(std::move(paper));
  }
  return "\n" +
         sentences("Variance of a group's part of the gradient over that under uniform sampling, exact") +
         exact.text() + "\n" + sentences("The same by Proposition 1") + proposition.text();
}

std::string course_text(const ProbeReport& report) {
  if (report.results.size() < 2) return "";
  TextTable table(
      {"strategy", "bias^2", "variance", "over\nuniform", "MSE", "tail over\nuniform", "exact /\nProp. 1"});
  for (std::size_t s = 0; s < report.results.front().strategies.size(); ++s) {
    for (const ProbeResult& result : report.results) {
      const StrategyProbe& one = result.strategies[s];
      const StrategyProbe* uniform = find(result, "uniform");
      const double all = uniform ? one.total.variance() / uniform->total.variance() : NAN;
      const double tail = uniform ? one.groups[2].variance() / uniform->groups[2].variance() : NAN;
      table.add({fmt::format("{}, after {}", one.strategy, result.epoch), number(one.total.bias2),
                 number(one.total.variance()), times(all), number(one.total.mse()), times(tail),
                 whole(one.total.variance() / one.total.proposition)});
    }
  }
  return "\nAlong the training: after so many epochs\n" + table.text();
}

// What the measured gradients say about the paper's predictions. Accuracies are checked by `longtail theory
// --logs`.
std::string evidence(const ProbeResult& result) {
  const StrategyProbe* uniform = find(result, "uniform");
  const StrategyProbe* balanced = find(result, "class_balanced");
  const StrategyProbe* progressive = find(result, "progressive");
  if (uniform == nullptr || balanced == nullptr) return "";
  std::string out =
      "\n" +
      sentences("The paper's predictions, as far as gradients tell (accuracies: `longtail theory --logs`)");
  if (progressive != nullptr) {
    out += sentences(fmt::format("1. progressive matches uniform on the head: its bias^2 is {:.3f} of the "
                                 "class-balanced one at this epoch, its MSE {:.2f} times that of uniform "
                                 "(class-balanced: {:.2f}).",
                                 progressive->total.bias2 / balanced->total.bias2,
                                 progressive->total.mse() / uniform->total.mse(),
                                 balanced->total.mse() / uniform->total.mse()),
                     3);
  }
  const auto grows = [](const Decomposition& own, const Decomposition& base) {
    return fmt::format("{} (Prop. 1: {})", times(own.variance() / base.variance()),
                       times(own.proposition / base.proposition));
  };
  const int tail = smallest_class(result.moments);
  out += sentences(
      fmt::format("2. class-balanced has a volatile tail because of variance: against uniform the "
                  "variance of the smallest class's part is {}, of the tail's part {}, of the "
                  "whole gradient {}.",
                  grows(balanced->classes[tail], uniform->classes[tail]),
                  grows(balanced->groups[2], uniform->groups[2]), grows(balanced->total, uniform->total)),
      3);
  return out +
         sentences(fmt::format("3. gaps widen with the imbalance: bias^2 of class-balanced is {:.3g} of the "
                               "squared full gradient here; compare probes at other imbalances.",
                               balanced->total.bias2 / uniform->total.mean2),
                   3);
}

}  // namespace

std::string probe_text(const ProbeReport& report) {
  // docs/theory.md, "Does the engine matter?", says how close bf16 is.
  const bool bf16 = report.engine == "amx";
  std::string out = sentences(
      "How the gradient of a mini-batch behaves on this very network, measured on the training images: how "
      "far its mean is from that of uniform sampling (bias) and how much it varies from batch to batch "
      "(variance). The exact formula and real mini-batches should agree; Proposition 1, the paper's, is set "
      "beside them.");
  out += "\n" +
         sentences(fmt::format(
             "{}; engine {}{}, images not augmented", report.title, report.engine,
             bf16 ? " (bf16; figures within about 1% of the exact ones of --engine amx-fine or simd)" : ""));
  for (const ProbeResult& result : report.results) {
    out += "\n" +
           sentences(fmt::format("== after {} epochs{}; class weights of epoch {} of {} ==", result.epoch,
                                 result.epoch == 0 ? " (initial weights, batch-norm statistics settled)" : "",
                                 result.situation.epoch, result.situation.epochs));
    out += gradients_text(report, result) + formulas_text(report, result) + frozen_text(result) +
           training_text(result) + groups_text(result) + evidence(result);
  }
  return out + course_text(report);
}

std::string probe_json(const ProbeReport& report) {
  nlohmann::json result = {{"title", report.title},
                           {"engine", report.engine},
                           {"groups", report.groups},
                           {"batch_size", report.batch},
                           {"augmented", false}};
  for (const ProbeResult& one : report.results) result["results"].push_back(theory::to_json(one));
  return result.dump(1) + "\n";
}

}  // namespace longtail::cli
