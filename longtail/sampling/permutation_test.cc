#include "longtail/sampling/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/sampling/chi_square.h"
#include "longtail/sampling/testing.h"

namespace longtail::sampling {
namespace {

bool visits_all_once(std::uint64_t n, std::uint64_t seed, std::uint32_t epoch) {
  const Permutation permutation(n, seed, epoch);
  std::vector<bool> seen(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t value = permutation(i);
    if (value >= n || seen[value]) return false;
    seen[value] = true;
  }
  return true;
}

TEST(Permutation, VisitsEveryImageExactlyOnce) {
  for (std::uint64_t n = 1; n <= 1000; ++n)
    EXPECT_TRUE(visits_all_once(n, n * 31, static_cast<std::uint32_t>(n % 7))) << n;
  for (const std::uint64_t n : {4096u, 10847u, 12607u, 19572u, 65536u, 1000003u}) {
    EXPECT_TRUE(visits_all_once(n, 42, 3)) << n;
  }
}

TEST(Permutation, OfAFewImagesIsEveryPermutationEquallyOften) {
  for (const std::uint64_t n : {2u, 3u, 4u, 5u, 6u}) {
    std::map<std::vector<std::uint64_t>, std::int64_t> times;
    std::size_t permutations = 1;
    for (std::uint64_t i = 2; i <= n; ++i) permutations *= i;
    for (std::uint32_t key = 0; key < 400 * permutations; ++key) {
      const Permutation permutation(n, 7 + key % 5, key);
      std::vector<std::uint64_t> values;
      for (std::uint64_t i = 0; i < n; ++i) values.push_back(permutation(i));
      ++times[values];
    }
    EXPECT_EQ(times.size(), permutations) << n;
    std::vector<std::int64_t> observed;
    for (const auto& [values, count] : times) observed.push_back(count);
    EXPECT_GT(
        chi_square(observed, std::vector<double>(permutations, 1.0 / static_cast<double>(permutations))).p,
        kStrict)
        << n;
  }
}

// Where a position goes, over many keys: a table of position against value.
TEST(Permutation, SendsEveryPositionEverywhereEquallyOften) {
  for (const std::uint64_t n : {10u, 37u, 100u}) {
    std::vector<std::int64_t> cells(n * n);
    for (std::uint32_t epoch = 0; epoch < 20000; ++epoch) {
      const Permutation permutation(n, 11, epoch);
      for (std::uint64_t i = 0; i < n; ++i) ++cells[i * n + permutation(i)];
    }
    // Rows and columns have fixed sums, so (n - 1)^2 degrees of freedom.
    double statistic = 0;
    const double expected = 20000.0 / static_cast<double>(n);
    for (const std::int64_t cell : cells)
      statistic += (static_cast<double>(cell) - expected) * (static_cast<double>(cell) - expected) / expected;
    const int freedom = static_cast<int>((n - 1) * (n - 1));
    EXPECT_GT(chi_square_tail(statistic, freedom), kStrict) << n;
    EXPECT_LT(chi_square_tail(statistic, freedom), 1 - kStrict) << n;
  }
}

// Within one key: 32 x 32 blocks of (position, value), and of (value, next value).
TEST(Permutation, OfManyImagesHasNoPatternBetweenPositionAndValueNorNeighbours) {
  for (const std::uint64_t n : {10847u, 65536u, 1000003u}) {
    for (const std::uint32_t epoch : {0u, 1u, 2u, 77u}) {
      const Permutation permutation(n, 42, epoch);
      std::vector<std::int64_t> places(1024), neighbours(1024), steps(64);
      std::uint64_t before = permutation(n - 1);
      for (std::uint64_t i = 0; i < n; ++i) {
        const std::uint64_t value = permutation(i);
        ++places[(i * 32 / n) * 32 + value * 32 / n];
        ++neighbours[(before * 32 / n) * 32 + value * 32 / n];
        ++steps[((value + n - before) % n) * 64 / n];
        before = value;
      }
      EXPECT_GT(chi_square(places, std::vector<double>(1024, 1.0 / 1024)).p, kStrict) << n << " " << epoch;
      EXPECT_GT(chi_square(neighbours, std::vector<double>(1024, 1.0 / 1024)).p, kStrict)
          << n << " " << epoch;
      EXPECT_GT(chi_square(steps, std::vector<double>(64, 1.0 / 64)).p, kStrict) << n << " " << epoch;
    }
  }
}

TEST(Permutation, OfOneEpochTellsNothingOfTheNext) {
  const std::uint64_t n = 10847;
  std::vector<std::int64_t> cells(1024);
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    const Permutation now(n, 42, epoch), next(n, 42, epoch + 1);
    for (std::uint64_t i = 0; i < n; ++i) ++cells[(now(i) * 32 / n) * 32 + next(i) * 32 / n];
  }
  EXPECT_GT(chi_square(cells, std::vector<double>(1024, 1.0 / 1024)).p, kStrict);
}

TEST(Permutation, WorksAtItsLargestSize) {
  const std::uint64_t n = std::uint64_t{1} << 61;
  const Permutation permutation(n, 1, 1);
  for (const std::uint64_t i : {std::uint64_t{0}, std::uint64_t{1}, n / 2, n - 1})
    EXPECT_LT(permutation(i), n);
  EXPECT_THROW(Permutation(n + 1, 1, 1), base::Error);
  EXPECT_THROW(Permutation(0, 1, 1), base::Error);
}

}  // namespace
}  // namespace longtail::sampling
