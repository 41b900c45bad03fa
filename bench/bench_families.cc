// How reliable the report's verdicts are: error rates under pure noise and power for planted effects, by
// simulated studies. A study is strategies x seeds of normal noise; strategies share the level of a seed.
//
//   build/bench/bench_families [STUDIES]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "longtail/base/philox.h"
#include "longtail/report/multivariate_t.h"
#include "longtail/report/recommendation.h"

namespace {

using namespace longtail;
using report::Family;
using report::SeedTable;

double normal(std::uint64_t study, std::size_t strategy, std::size_t seed) {
  const base::Stream stream{.seed = study, .purpose = base::Purpose::kTest, .epoch = 15};
  const base::Block block = stream.block(strategy * 1000 + seed);
  return report::normal_quantile((static_cast<double>(block[0]) + 0.5) / 4294967296.0);
}

// Effects in units of the residual's standard deviation.
SeedTable study_of(const std::vector<double>& effects, std::size_t seeds, std::uint64_t study) {
  SeedTable table;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    table.names.push_back(fmt::format("s{}", i));
    table.values.emplace_back();
    for (std::size_t s = 0; s < seeds; ++s)
      table.values.back().push_back(40 + effects[i] + 3 * normal(study, 900, s) + normal(study, i, s));
  }
  return table;
}

double percent(int count, int of) { return 100.0 * count / of; }

// Several strategies are equally good, the others far worse: percent of studies in which one of the best is
// ruled out.
void partly_equal(int studies) {
  fmt::print(
      "\nSeveral equally good beside worse ones, percent of studies in which one of the good is ruled "
      "out:\n");
  fmt::print(
      "  strategies  seeds  one worse  half worse, baseline good  half worse, baseline worse  baseline "
      "worse\n");
  for (const std::size_t k : {3u, 4u, 8u, 16u}) {
    for (const std::size_t seeds : {3u, 5u, 10u}) {
      const std::size_t half = k / 2;
      std::vector<std::vector<double>> worlds(4, std::vector<double>(k, 0));
      worlds[0].back() = -20;
      std::fill(worlds[1].end() - static_cast<std::ptrdiff_t>(half), worlds[1].end(), -20);
      std::fill(worlds[2].begin(), worlds[2].end() - static_cast<std::ptrdiff_t>(half), -20);
      worlds[3].front() = -20;
      fmt::print("  {:>10}  {:>5}", k, seeds);
      for (const auto& effects : worlds) {
        int wrong = 0;
        for (int study = 0; study < studies; ++study) {
          const Family family = report::analyse(
              study_of(effects, seeds, static_cast<std::uint64_t>(study) * 64 + k + 8 * seeds + 5000000));
          const auto out = family.ruled_out();
          wrong += std::any_of(out.begin(), out.end(), [&](std::size_t i) { return effects[i] == 0; });
        }
        fmt::print("  {:>12.1f}", percent(wrong, studies));
      }
      fmt::print("\n");
    }
  }
}

void noise(int studies) {
  fmt::print("Pure noise, {} studies each, percent of studies:\n", studies);
  fmt::print("  strategies  seeds  established  ruled out  either  recommended\n");
  for (const std::size_t k : {2u, 4u, 8u}) {
    for (const std::size_t seeds : {3u, 5u, 10u}) {
      int established = 0, ruled = 0, either = 0, recommended = 0;
      for (int study = 0; study < studies; ++study) {
        const SeedTable table = study_of(std::vector<double>(k, 0), seeds,
                                         static_cast<std::uint64_t>(study) * 64 + k + 8 * seeds);
        const Family family = report::analyse(table);
        established += family.any_established();
        ruled += !family.ruled_out().empty();
        either += family.any_established() || !family.ruled_out().empty();
        recommended += !family.ruled_out().empty();
      }
      fmt::print("  {:>10}  {:>5}  {:>11.1f}  {:>9.1f}  {:>6.1f}  {:>11.1f}\n", k, seeds,
                 percent(established, studies), percent(ruled, studies), percent(either, studies),
                 percent(recommended, studies));
    }
  }
  partly_equal(studies);
  fmt::print(
      "\nRaces with looks after 3, 5, 8 and 12 seeds, percent in which one that is as good as any is "
      "dropped:\n");
  fmt::print("  strategies  all equal  one far below, the rest equal\n");
  for (const std::size_t k : {2u, 4u, 8u}) {
    int dropped = 0, best_dropped = 0;
    std::vector<double> one_bad(k, 0);
    one_bad.back() = -20;
    for (int study = 0; study < studies; ++study) {
      const auto key = static_cast<std::uint64_t>(study) * 64 + k + 7000000;
      dropped += !report::run_looks(study_of(std::vector<double>(k, 0), 12, key), 0, {}).dropped.empty();
      for (const std::size_t row : report::run_looks(study_of(one_bad, 12, key), 0, {}).dropped) {
        if (row + 1 == k) continue;
        ++best_dropped;
        break;
      }
    }
    fmt::print("  {:>10}  {:>9.1f}  {:>29.1f}\n", k, percent(dropped, studies),
               percent(best_dropped, studies));
  }
}

// Four strategies; the last is ahead of the other three by some standard deviations of the residual.
void power(int studies) {
  fmt::print(
      "\nFour strategies, one ahead of the others: percent established / percent it alone may be best:\n");
  fmt::print(
      "  ahead by (residual deviations)      0.5            1          1.5            2            3         "
      "   4\n");
  for (const std::size_t seeds : {3u, 5u, 8u, 12u}) {
    fmt::print("  {:>2} seeds                  ", seeds);
    for (const double ahead : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0}) {
      int established = 0, settled = 0;
      for (int study = 0; study < studies; ++study) {
        const Family family =
            report::analyse(study_of({0, 0, 0, ahead}, seeds, static_cast<std::uint64_t>(study) + 9000000));
        established += family.standings[3].judgement == report::Judgement::kEstablished;
        settled += family.may_be_best() == std::vector<std::size_t>{3};
      }
      fmt::print("  {:>4.0f} / {:>4.0f}", percent(established, studies), percent(settled, studies));
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int studies = argc > 1 ? std::atoi(argv[1]) : 1000;
  noise(studies);
  power(studies);
}
