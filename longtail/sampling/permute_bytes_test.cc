#include "longtail/sampling/permute_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "longtail/base/error.h"
#include "longtail/sampling/stream.h"

namespace longtail::sampling {
namespace {

// All of a stream from `first` on by tables, against the permutation position by position.
void expect_equals_at(const IndexStream& stream, std::int64_t first) {
  std::vector<std::int64_t> fast(static_cast<std::size_t>(stream.size() - first));
  stream.fill(first, fast);
  for (std::size_t i = 0; i < fast.size(); ++i) {
    ASSERT_EQ(fast[i], stream.at(first + static_cast<std::int64_t>(i))) << "draw " << i << " from " << first;
  }
}

IndexStream shuffled(std::int64_t images) {
  return {*make_strategy("uniform"),
          std::vector<std::int64_t>{images},
          {3, 10},
          static_cast<std::uint64_t>(images) * 7919};
}

// Sizes whose last row is full, almost full and almost empty, and the smallest and largest that there are tables for.
TEST(PermuteBytes, OfAnEpochIsThePermutationPositionByPosition) {
  for (const std::int64_t n : {1024,  1025,  1055,  1056,  1057,  2049,  4095,  4096,  4097,  9952,  10847,
                               12607, 16384, 16385, 19572, 32769, 64516, 64770, 64771, 65025, 65026, 65536}) {
    SCOPED_TRACE(n);
    expect_equals_at(shuffled(n), 0);
  }
  EXPECT_TRUE(fits_bytes(Permutation(1024, 1, 0)));
  EXPECT_TRUE(fits_bytes(Permutation(64770, 1, 0)));
  EXPECT_FALSE(fits_bytes(Permutation(1023, 1, 0)));
  EXPECT_FALSE(fits_bytes(Permutation(65536, 1, 0)));
}

TEST(PermuteBytes, OfAPartIsThePartWhereverItBegins) {
  const IndexStream stream = shuffled(10847);
  for (const std::int64_t first : {1, 31, 32, 103, 9000}) expect_equals_at(stream, first);
  for (const int world : {2, 3, 5, 8, 10}) {
    for (const int rank : {0, world - 1}) {
      SCOPED_TRACE(testing::Message() << "part " << rank << " of " << world);
      expect_equals_at(stream.shard(rank, world), 0);
      expect_equals_at(stream.shard(rank, world), 7);
    }
  }
  std::vector<std::int64_t> too_many(2000);
  EXPECT_THROW(stream.fill(9000, too_many), base::Error);
}

}  // namespace
}  // namespace longtail::sampling
