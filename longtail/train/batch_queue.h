// Batches prepared ahead: while one is used, a thread of its own fills the next into a second buffer. The
// content of a batch depends on its number only, so it does not matter who prepares it and when.
//
//   BatchQueue queue(count, bytes, [&](int number, BatchQueue::Slot& slot) { ... });
//   while (const BatchQueue::Slot* slot = queue.next()) use(*slot);   // valid until the next call of next()
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "longtail/data/augment.h"
#include "longtail/data/augmenter.h"
#include "longtail/data/subset.h"
#include "longtail/nn/engine.h"
#include "longtail/sampling/stream.h"

namespace longtail::train {

class BatchQueue {
 public:
  struct Slot {
    std::span<std::byte> images;
    std::vector<std::int32_t> labels;
    // For mixed images (nn::Batch); empty if nothing is mixed.
    std::vector<std::int32_t> second = {};
    std::vector<float> weight = {};

    nn::Batch batch() const {
      return {images.data(), labels, static_cast<int>(labels.size()), second, weight};
    }
  };
  using Fill = std::function<void(int number, Slot& slot)>;

  // Batches 0 ... count - 1, each of at most `bytes` bytes of images. Starts on the first at once.
  BatchQueue(int count, std::size_t bytes, Fill fill);
  ~BatchQueue();
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  // The next batch, or null after the last. Rethrows what `fill` threw.
  const Slot* next();
  // Seconds that next() has waited so far.
  double seconds_waited() const { return waited_; }

 private:
  void produce();

  // Cache-line aligned memory for the engine's vector loads.
  struct Free {
    void operator()(std::byte* memory) const;
  };

  const int count_;
  const Fill fill_;
  std::unique_ptr<std::byte[], Free> memory_;
  Slot slots_[2];
  std::mutex mutex_;
  std::condition_variable changed_;
  int made_ = 0;    // batches filled so far
  int wanted_ = 1;  // batches that may be filled: one ahead of the one in use
  int given_ = 0;   // batches given out
  bool stop_ = false;
  double waited_ = 0;
  std::exception_ptr error_;
  std::thread thread_;
};

// Where training batches come from: the images that the stream names, with the transforms of their positions,
// mixed with the images of other positions if the augmentation says so.
struct TrainingSource {
  const data::Dataset& data;
  const data::Subset& subset;
  data::PixelLayout layout;
  int batch_size;
  data::Augmenter augment;
  std::uint64_t seed;

  std::unique_ptr<BatchQueue> epoch(const sampling::Strategy& strategy,
                                    const sampling::Situation& situation) const;
  // The images `drawn` (places in the subset), with the transforms of the positions.
  void write(std::span<const std::int64_t> drawn, std::span<const std::uint64_t> positions, int epoch,
             std::span<std::int32_t> labels, void* images, base::ThreadPool& pool) const;
  // Mixes each image of a batch with its partner, into the slot.
  void mix(const sampling::IndexStream& stream, std::span<const std::uint64_t> positions, int epoch,
           BatchQueue::Slot& slot, base::ThreadPool& pool) const;
  int steps() const { return static_cast<int>(subset.size() / batch_size); }
};

// Images `rows` of a split in order, without augmentation; an empty `rows` means the whole split.
std::unique_ptr<BatchQueue> plain_batches(const data::Dataset& data, const data::Split& split,
                                          std::span<const std::int32_t> rows, data::PixelLayout layout,
                                          int batch_size);

}  // namespace longtail::train
