#include "longtail/sampling/stream.h"

#include <algorithm>
#include <limits>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"
#include "longtail/sampling/permute_bytes.h"

namespace longtail::sampling {
namespace {

constexpr std::size_t kWorthTables = 1024;  // from this many draws at a time, byte_rounds pays off
constexpr std::int64_t kMostImages = std::int64_t{1} << 61;

// For each slot, its own class and its alias: the first image and the number of images, in one word per
// class.
std::vector<std::uint64_t> places_of(const AliasTable& table, std::span<const std::int64_t> first,
                                     std::span<const std::int64_t> counts) {
  std::vector<std::uint64_t> places;
  for (std::size_t slot = 0; slot < counts.size(); ++slot) {
    for (const std::size_t k : {slot, static_cast<std::size_t>(table.aliases()[slot])}) {
      places.push_back(
          base::join(static_cast<std::uint32_t>(first[k]), static_cast<std::uint32_t>(counts[k])));
    }
  }
  return places;
}

// Checks the counts before a strategy adds them up.
std::span<const std::int64_t> checked(std::span<const std::int64_t> counts, int epoch) {
  if (epoch < 0) base::fail("there is no epoch {}; they are counted from 0", epoch);
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || count > kMostImages - total) {
      base::fail("a class has {} images; a count cannot be negative, and all together at most 2^61", count);
    }
    total += count;
  }
  if (total == 0) base::fail("there are no images to draw from");
  return counts;
}

}  // namespace

IndexStream::IndexStream(const Strategy& strategy, std::span<const std::int64_t> counts,
                         const Situation& situation, std::uint64_t seed)
    : probabilities_(strategy.probabilities(checked(counts, situation.epoch), situation)),
      counts_(counts.begin(), counts.end()),
      seed_(seed),
      epoch_(static_cast<std::uint32_t>(situation.epoch)),
      is_permutation_(strategy.without_replacement(situation)),
      is_stratified_(strategy.stratified(situation)) {
  for (const std::int64_t count : counts) {
    first_.push_back(total_);
    total_ += count;
  }
  if (is_permutation_) {
    permutation_ = Permutation(static_cast<std::uint64_t>(total_), seed, epoch_);
  } else if (is_stratified_) {
    strata_ = Strata(probabilities_, situation.batch_size);
  } else {
    classes_ = AliasTable(probabilities_);
    if (total_ >> 32 == 0) places_ = places_of(classes_, first_, counts_);
  }
}

IndexStream IndexStream::shard(int rank, int world) const {
  if (world < 1 || rank < 0 || rank >= world)
    base::fail("there is no part {} of {}; parts are counted from 0", rank, world);
  if (world > kMostImages / stride_) base::fail("a stream cannot be cut into more than 2^61 parts");
  IndexStream part = *this;
  part.offset_ = offset_ + rank * stride_;
  part.stride_ = stride_ * world;
  return part;
}

std::int64_t IndexStream::size() const {
  return std::max<std::int64_t>(0, (total_ - offset_ + stride_ - 1) / stride_);
}

void IndexStream::check_range(std::int64_t first, std::int64_t count) const {
  if (first < 0) base::fail("a stream has no position {}", first);
  if (is_permutation_ && (first > size() || count > size() - first)) {
    base::fail("{} draws from position {} on are beyond this epoch's {} without replacement", count, first,
               size());
  }
  const std::int64_t positions = (std::numeric_limits<std::int64_t>::max() - offset_) / stride_;
  if (first > positions || count > positions - first)
    base::fail("a stream has no {} positions from {} on", count, first);
}

std::int64_t IndexStream::draw(std::uint64_t position) const {
  if (is_permutation_) return static_cast<std::int64_t>(permutation_(position));
  const base::Block block = base::Stream{seed_, base::Purpose::kDraw, epoch_}.block(position);
  const auto k = static_cast<std::size_t>(is_stratified_ ? strata_.draw(seed_, epoch_, position)
                                                         : classes_.draw(base::join(block[0], block[1])));
  const std::uint64_t instance =
      base::scale(base::join(block[2], block[3]), static_cast<std::uint64_t>(counts_[k]));
  return first_[k] + static_cast<std::int64_t>(instance);
}

std::int64_t IndexStream::at(std::int64_t i) const {
  check_range(i, 1);
  return draw(static_cast<std::uint64_t>(position(i)));
}

void IndexStream::fill(std::int64_t first, std::span<std::int64_t> out, base::Cpu cpu) const {
  check_range(first, static_cast<std::int64_t>(out.size()));
  const std::size_t done = fill_vectors(static_cast<std::uint64_t>(position(first)), out, cpu);
  for (std::size_t i = done; i < out.size(); ++i) {
    out[i] = draw(static_cast<std::uint64_t>(position(first + static_cast<std::int64_t>(i))));
  }
}

std::size_t IndexStream::fill_vectors(std::uint64_t position, std::span<std::int64_t> out,
                                      base::Cpu cpu) const {
  const bool wide = cpu == base::Cpu::kAvx512;
  const auto stride = static_cast<std::uint64_t>(stride_);
  if (!wide && cpu != base::Cpu::kAvx2) return 0;
  if (!is_permutation_) {
    if (places_.empty()) return 0;
    const DrawTask task{position,
                        stride,
                        seed_,
                        epoch_,
                        static_cast<std::uint32_t>(base::Purpose::kDraw),
                        static_cast<std::uint32_t>(counts_.size()),
                        classes_.thresholds().data(),
                        places_.data()};
    return (wide ? draw_avx512 : draw_avx2)(task, out.data(), out.size());
  }
  if (out.size() >= kWorthTables && fits_bytes(permutation_)) {
    permute_bytes_avx2(byte_rounds(permutation_), position, stride, out.data(), out.size());
    return out.size();
  }
  static_assert(Permutation::kRoundsOfFew <= kMostRounds);
  const PermuteTask task{position,
                         stride,
                         permutation_.left_size(),
                         permutation_.right_size(),
                         permutation_.keys().size(),
                         &permutation_.keys()[0].add};
  const std::size_t done = (wide ? permute_avx512 : permute_avx2)(task, out.data(), out.size());
  walk_on(out.first(done));
  return done;
}

// Continues the cycle walk of the few values beyond the last image. They are searched for a handful at a
// time: the sign of a difference says "beyond" and needs no branch.
void IndexStream::walk_on(std::span<std::int64_t> images) const {
  constexpr std::size_t kHandful = 16;
  const std::int64_t last = total_ - 1;
  while (!images.empty()) {
    const auto some = images.first(std::min(kHandful, images.size()));
    std::int64_t beyond = 0;
    for (const std::int64_t image : some) beyond |= last - image;
    if (beyond < 0) {
      for (std::int64_t& image : some) {
        if (image > last) image = static_cast<std::int64_t>(permutation_(static_cast<std::uint64_t>(image)));
      }
    }
    images = images.subspan(some.size());
  }
}

int IndexStream::class_of(std::int64_t image) const {
  if (image < 0 || image >= total_) base::fail("there is no image {}; there are {}", image, total_);
  // The last class that starts at or before the image; empty classes start where the next one does.
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), image) - first_.begin()) - 1;
}

}  // namespace longtail::sampling
