#include "longtail/train/batch_queue.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>
#include <utility>

#include "longtail/base/start_thread.h"

namespace longtail::train {
namespace {

constexpr std::align_val_t kAlignment{64};

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

void BatchQueue::Free::operator()(std::byte* memory) const { ::operator delete[](memory, kAlignment); }

BatchQueue::BatchQueue(int count, std::size_t bytes, Fill fill)
    : count_(count),
      fill_(std::move(fill)),
      memory_(static_cast<std::byte*>(::operator new[](2 * aligned(bytes), kAlignment))) {
  slots_[0].images = {memory_.get(), bytes};
  slots_[1].images = {memory_.get() + aligned(bytes), bytes};
  thread_ = base::start_thread([this] { produce(); });
}

BatchQueue::~BatchQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchQueue::produce() {
  for (int number = 0; number < count_; ++number) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || number < wanted_; });
      if (stop_) return;
    }
    std::exception_ptr error;
    try {
      fill_(number, slots_[number % 2]);
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      error_ = error;
      made_ = number + 1;
    }
    changed_.notify_all();
    if (error) return;
  }
}

const BatchQueue::Slot* BatchQueue::next() {
  if (given_ == count_) return nullptr;
  std::unique_lock lock(mutex_);
  if (made_ == given_) {
    const auto start = std::chrono::steady_clock::now();
    changed_.wait(lock, [&] { return made_ > given_; });
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (error_) std::rethrow_exception(error_);
  const Slot* slot = &slots_[given_ % 2];
  ++given_;
  wanted_ = given_ + 1;  // the buffer given out before this one is free now
  lock.unlock();
  changed_.notify_all();
  return slot;
}

void TrainingSource::write(std::span<const std::int64_t> drawn, std::span<const std::uint64_t> positions,
                           int epoch, std::span<std::int32_t> labels, void* images,
                           base::ThreadPool& pool) const {
  std::vector<std::int32_t> rows(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    rows[i] = subset.indices[static_cast<std::size_t>(drawn[i])];
    labels[i] = data.train.labels[static_cast<std::size_t>(rows[i])];
  }
  data::Augmentation augmentation;
  augmentation.on = augment.crops_and_flips();
  augmentation.seed = seed;
  augmentation.epoch = static_cast<std::uint32_t>(epoch);
  augmentation.positions = positions;
  data::write_batch(data, data.train, rows, augmentation, layout, images, pool);
}

void TrainingSource::mix(const sampling::IndexStream& stream, std::span<const std::uint64_t> positions,
                         int epoch, BatchQueue::Slot& slot, base::ThreadPool& pool) const {
  const std::size_t size = positions.size();
  const auto draws = static_cast<std::uint64_t>(steps()) * static_cast<std::uint64_t>(batch_size);
  const auto place = [&](std::size_t i) {
    return data::Place{seed, static_cast<std::uint32_t>(epoch), positions[i]};
  };
  std::vector<std::uint64_t> partners(size);
  std::vector<std::int64_t> drawn(size);
  for (std::size_t i = 0; i < size; ++i) {
    partners[i] = data::Augmenter::partner(place(i), draws);
    drawn[i] = stream.at(static_cast<std::int64_t>(partners[i]));
  }
  const std::size_t bytes = data::bytes_per_image(layout, data.shape());
  std::vector<std::byte> images(size * bytes);
  slot.second.resize(size);
  slot.weight.resize(size);
  write(drawn, partners, epoch, slot.second, images.data(), pool);
  const auto count = [&](std::int32_t label) { return subset.counts[static_cast<std::size_t>(label)]; };
  for (std::size_t i = 0; i < size; ++i) {
    const data::Mix mix = augment.mix(place(i), data.side, count(slot.labels[i]), count(slot.second[i]));
    data::blend(mix, layout, data.channels, data.side, slot.images.data() + i * bytes,
                images.data() + i * bytes);
    slot.weight[i] = mix.label;
  }
}

std::unique_ptr<BatchQueue> TrainingSource::epoch(const sampling::Strategy& strategy,
                                                  const sampling::Situation& situation) const {
  // What the thread needs is copied: the queue may outlive this source.
  const auto stream = std::make_shared<sampling::IndexStream>(strategy, subset.counts, situation, seed);
  const auto pool = std::make_shared<base::ThreadPool>(1);  // the queue's own thread does the work
  const auto fill = [source = *this, stream, pool, epoch = situation.epoch](int number,
                                                                            BatchQueue::Slot& slot) {
    const auto size = static_cast<std::size_t>(source.batch_size);
    const std::int64_t first = std::int64_t{number} * source.batch_size;
    std::vector<std::int64_t> drawn(size);
    stream->fill(first, drawn);
    std::vector<std::uint64_t> positions(size);
    std::iota(positions.begin(), positions.end(), static_cast<std::uint64_t>(first));
    slot.labels.resize(size);
    source.write(drawn, positions, epoch, slot.labels, slot.images.data(), *pool);
    if (source.augment.mixes()) source.mix(*stream, positions, epoch, slot, *pool);
  };
  const std::size_t bytes =
      static_cast<std::size_t>(batch_size) * data::bytes_per_image(layout, data.shape());
  return std::make_unique<BatchQueue>(steps(), bytes, fill);
}

std::unique_ptr<BatchQueue> plain_batches(const data::Dataset& data, const data::Split& split,
                                          std::span<const std::int32_t> rows, data::PixelLayout layout,
                                          int batch_size) {
  const auto images = static_cast<std::int64_t>(rows.empty() ? split.labels.size() : rows.size());
  const auto pool = std::make_shared<base::ThreadPool>(1);
  const auto fill = [=, &data, &split](int number, BatchQueue::Slot& slot) {
    const std::int64_t first = std::int64_t{number} * batch_size;
    const auto size = static_cast<std::size_t>(std::min<std::int64_t>(batch_size, images - first));
    std::vector<std::int32_t> chosen(size);
    slot.labels.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(first) + i;
      chosen[i] = rows.empty() ? static_cast<std::int32_t>(at) : rows[at];
      slot.labels[i] = split.labels[static_cast<std::size_t>(chosen[i])];
    }
    data::write_batch(data, split, chosen, {}, layout, slot.images.data(), *pool);
  };
  const auto batches = static_cast<int>((images + batch_size - 1) / batch_size);
  const std::size_t bytes =
      static_cast<std::size_t>(batch_size) * data::bytes_per_image(layout, data.shape());
  return std::make_unique<BatchQueue>(batches, bytes, fill);
}

}  // namespace longtail::train
