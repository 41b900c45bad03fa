#include "longtail/theory/exposure.h"

#include <algorithm>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/sampling/stream.h"

namespace longtail::theory {

Exposure exposure(const sampling::Strategy& strategy, std::span<const std::int64_t> counts, int epochs,
                  int batch, std::uint64_t seed) {
  sampling::refuse_feedback(strategy);
  const auto images = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (batch < 1 || batch > images)
    base::fail("a batch of {} does not fit a subset of {} images", batch, images);
  const std::int64_t draws = images / batch * batch;

  Exposure result;
  result.strategy = strategy.name();
  result.epochs = epochs;
  result.draws = draws * epochs;
  result.classes.resize(counts.size());
  std::vector<std::int64_t> seen(static_cast<std::size_t>(images));
  std::vector<int> last_epoch(seen.size(), -1);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(draws));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const sampling::IndexStream stream(strategy, counts, {epoch, epochs, {}, batch}, seed);
    stream.fill(0, positions);
    for (const std::int64_t image : positions) {
      const auto i = static_cast<std::size_t>(image);
      ++seen[i];
      result.distinct_an_epoch += last_epoch[i] != epoch;
      last_epoch[i] = epoch;
    }
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] > 0) {
        result.classes[k].expected +=
            static_cast<double>(draws) * stream.probabilities()[k] / static_cast<double>(counts[k]);
      }
    }
  }
  result.distinct_an_epoch /= std::max(epochs, 1);

  double squares = 0;
  std::size_t first = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    ClassExposure& one = result.classes[k];
    one.count = counts[k];
    const auto of_class = std::span(seen).subspan(first, static_cast<std::size_t>(counts[k]));
    first += of_class.size();
    if (of_class.empty()) continue;
    one.fewest = *std::min_element(of_class.begin(), of_class.end());
    one.most = *std::max_element(of_class.begin(), of_class.end());
    for (const std::int64_t times : of_class) {
      one.mean += static_cast<double>(times) / static_cast<double>(counts[k]);
      squares += static_cast<double>(times) * static_cast<double>(times);
      result.never += times == 0;
    }
  }
  const auto all = static_cast<double>(result.draws);
  result.effective = squares > 0 ? all * all / squares : 0;
  return result;
}

}  // namespace longtail::theory
