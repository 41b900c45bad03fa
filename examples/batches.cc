// How to use the samplers in your own program: four machines share an epoch of progressive sampling, one
// batch at a time.
//   build/examples/batches
#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "longtail/sampling/stream.h"

int main() {
  using namespace longtail::sampling;

  // All that a sampler needs to know about the data: the number of images of each class.
  const std::vector<std::int64_t> counts = {5000, 1200, 300, 80, 20};
  const auto strategy = make_strategy("progressive:gamma=2");
  const std::uint64_t seed = 42;
  const int epochs = 90, machines = 4;

  for (const int epoch : {0, 45, 89}) {
    const IndexStream stream(*strategy, counts, {.epoch = epoch, .epochs = epochs}, seed);
    fmt::print("epoch {:>2}, probabilities {:.3f}\n", epoch, fmt::join(stream.probabilities(), " "));
    for (int machine = 0; machine < machines; ++machine) {
      const IndexStream mine = stream.shard(machine, machines);
      // The first batch of this machine; at any other step it would be mine.fill(step * 64, batch).
      std::vector<std::int64_t> batch(64);
      mine.fill(0, batch);
      std::vector<int> of_class(counts.size());
      for (const std::int64_t image : batch) ++of_class[static_cast<std::size_t>(mine.class_of(image))];
      fmt::print("  machine {} of {}: {} draws per epoch, its first batch has {} images of the classes\n",
                 machine, machines, mine.size(), fmt::join(of_class, " + "));
    }
  }
  return 0;
}
