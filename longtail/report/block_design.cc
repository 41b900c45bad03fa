#include "longtail/report/block_design.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "longtail/report/stats.h"

namespace longtail::report {
namespace {

// Gauss-Jordan for a small symmetric positive definite matrix.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix b(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    const double scale = 1 / a[c][c];
    for (std::size_t j = 0; j < n; ++j) {
      a[c][j] *= scale;
      b[c][j] *= scale;
    }
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c || a[r][c] == 0) continue;
      const double factor = a[r][c];
      for (std::size_t j = 0; j < n; ++j) {
        a[r][j] -= factor * a[c][j];
        b[r][j] -= factor * b[c][j];
      }
    }
  }
  return b;
}

}  // namespace

std::vector<std::size_t> connected(const SeedTable& table, std::size_t first) {
  std::vector<std::size_t> found = {first};
  std::vector<bool> in(table.strategies(), false);
  in[first] = true;
  for (std::size_t next = 0; next < found.size(); ++next) {
    for (std::size_t j = 0; j < table.strategies(); ++j) {
      if (in[j]) continue;
      for (std::size_t s = 0; s < table.seeds() && !in[j]; ++s)
        in[j] = std::isfinite(table.values[found[next]][s]) && std::isfinite(table.values[j][s]);
      if (in[j]) found.push_back(j);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Fit fit(const SeedTable& table, std::vector<std::size_t> who) {
  Fit fit;
  fit.who = std::move(who);
  const std::size_t k = fit.who.size();
  const auto value = [&](std::size_t i, std::size_t s) { return table.values[fit.who[i]][s]; };
  // Seeds are eliminated first, which leaves the equations of the strategies alone.
  Matrix information(k, std::vector<double>(k, 0));
  std::vector<double> right(k, 0);
  int runs = 0, blocks = 0;
  std::vector<double> seed_mean(table.seeds(), kNaN);
  for (std::size_t s = 0; s < table.seeds(); ++s) {
    std::vector<std::size_t> here;
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      if (!std::isfinite(value(i, s))) continue;
      here.push_back(i);
      sum += value(i, s);
    }
    fit.balanced = fit.balanced && (here.empty() || here.size() == k);
    if (here.empty()) continue;
    const double share = 1 / static_cast<double>(here.size());
    seed_mean[s] = sum * share;
    runs += static_cast<int>(here.size());
    ++blocks;
    for (const std::size_t i : here) {
      information[i][i] += 1;
      right[i] += value(i, s) - seed_mean[s];
      for (const std::size_t j : here) information[i][j] -= share;
    }
  }
  Matrix rest(k - 1, std::vector<double>(k - 1));
  for (std::size_t i = 1; i < k; ++i) {
    for (std::size_t j = 1; j < k; ++j) rest[i - 1][j - 1] = information[i][j];
  }
  const Matrix inverted = inverse(std::move(rest));
  fit.effect.assign(k, 0);
  fit.unit_covariance.assign(k, std::vector<double>(k, 0));
  for (std::size_t i = 1; i < k; ++i) {
    for (std::size_t j = 1; j < k; ++j) {
      fit.unit_covariance[i][j] = inverted[i - 1][j - 1];
      fit.effect[i] += inverted[i - 1][j - 1] * right[j];
    }
  }
  fit.dof = runs - static_cast<int>(k) - blocks + 1;
  fit.residuals.assign(k, std::vector<double>(table.seeds(), kNaN));
  for (std::size_t s = 0; s < table.seeds(); ++s) {
    double effects = 0;
    int here = 0;
    for (std::size_t i = 0; i < k; ++i) {
      if (!std::isfinite(value(i, s))) continue;
      effects += fit.effect[i];
      ++here;
    }
    for (std::size_t i = 0; i < k; ++i) {
      if (!std::isfinite(value(i, s))) continue;
      const double r = value(i, s) - seed_mean[s] - fit.effect[i] + effects / here;
      fit.residuals[i][s] = r;
      fit.sum_of_squares += r * r;
    }
  }
  return fit;
}

// Cochran's test on the seeds that every strategy has. With equal variances k / (k - 1) times a strategy's
// share of the residual sum of squares is Beta((S-1)/2, (k-2)(S-1)/2); Bonferroni over the strategies. With
// two strategies both shares are equal and there is nothing to test.
double unequal_p(const SeedTable& table, const std::vector<std::size_t>& who) {
  std::vector<std::size_t> whole;
  for (std::size_t s = 0; s < table.seeds(); ++s) {
    if (std::all_of(who.begin(), who.end(), [&](std::size_t i) { return std::isfinite(table.values[i][s]); }))
      whole.push_back(s);
  }
  const std::size_t k = who.size();
  if (k < 3 || whole.size() < 2) return 1;
  SeedTable complete;
  for (const std::size_t i : who) {
    complete.names.push_back(table.names[i]);
    complete.values.emplace_back();
    for (const std::size_t s : whole) complete.values.back().push_back(table.values[i][s]);
  }
  std::vector<std::size_t> all(k);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Fit one = fit(complete, all);
  if (one.sum_of_squares < kNoSpread * kNoSpread) return 1;
  double largest = 0;
  for (const auto& row : one.residuals) {
    double sum = 0;
    for (const double r : row) sum += r * r;
    largest = std::max(largest, sum / one.sum_of_squares);
  }
  const double count = static_cast<double>(k), half = 0.5 * static_cast<double>(whole.size() - 1);
  return std::min(1.0, count * (1 - beta_cdf(largest * count / (count - 1), half, (count - 2) * half)));
}

}  // namespace longtail::report
