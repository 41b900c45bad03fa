#include "longtail/study/estimate.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/base/threads.h"
#include "longtail/data/published.h"
#include "longtail/data/registry.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/init.h"

namespace longtail::study {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kBudget = 1.5;  // seconds for each of training and prediction
constexpr int kMostRounds = 20;

// The shape of a data set: all that time depends on.
struct Shape {
  int channels = 3;
  std::vector<std::int64_t> train_counts;
  std::int64_t test_images = 0;
};

std::optional<Shape> shape_of(const std::string& name, const std::string& folder) {
  if (const auto* published = data::find_published(name)) {
    return Shape{
        published->channels, published->train_counts,
        std::accumulate(published->test_counts.begin(), published->test_counts.end(), std::int64_t{0})};
  }
  try {
    const data::Dataset dataset = data::load_dataset(name, folder);
    return Shape{dataset.channels, data::count_labels(dataset.train.labels, dataset.classes()),
                 dataset.test.size()};
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

// The fastest of as many rounds as the budget has, after one to warm up.
double fastest(const std::function<void()>& work) {
  work();
  double best = 1e9;
  const auto begin = Clock::now();
  for (int round = 0; round < kMostRounds; ++round) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    if (std::chrono::duration<double>(Clock::now() - begin).count() > kBudget) break;
  }
  return best;
}

struct Speed {
  double step_seconds = 0;
  double image_seconds = 0;  // prediction
};

Speed measure(const train::RunConfig& config, const Shape& shape, int threads) {
  base::ThreadPool pool(threads > 0 ? threads : base::available_cpus());
  const int classes = static_cast<int>(shape.train_counts.size());
  const auto spec = nn::make_spec(config.model, config.shortcut, classes, shape.channels);
  const auto engine = nn::make_engine(config.engine, spec, config.batch_size, pool);
  const auto parameters = nn::initial_parameters(spec, 1);
  auto buffers = nn::initial_buffers(spec);
  std::vector<float> gradient(parameters.size());
  const auto loss = nn::make_loss(config.loss, shape.train_counts);
  const auto size = static_cast<std::size_t>(config.batch_size);
  // Small numbers in either layout.
  const std::vector<std::uint8_t> pixels(data::bytes_per_image(engine->input_layout(), shape.channels) * size,
                                         0x3c);
  std::vector<std::int32_t> labels(size);
  for (std::size_t i = 0; i < size; ++i)
    labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes));
  std::vector<float> logits(size * static_cast<std::size_t>(classes));
  const nn::Batch batch{pixels.data(), labels, config.batch_size};
  Speed speed;
  speed.step_seconds = fastest([&] { engine->gradient(parameters, buffers, batch, *loss, gradient); });
  speed.image_seconds = fastest([&] { engine->predict(parameters, buffers, batch, logits); }) /
                        static_cast<double>(config.batch_size);
  return speed;
}

}  // namespace

std::optional<Estimate> estimate(const std::vector<Run>& runs, const std::string& data, int threads) {
  std::map<std::string, std::optional<Shape>> shapes;
  std::map<std::tuple<std::string, std::string, std::string, int>, Speed> speeds;
  Estimate result;
  for (const Run& run : runs) {
    const train::RunConfig& config = run.config;
    auto shape = shapes.find(config.dataset);
    if (shape == shapes.end()) shape = shapes.emplace(config.dataset, shape_of(config.dataset, data)).first;
    if (!shape->second) return std::nullopt;
    const auto kind = std::make_tuple(config.dataset, config.model, config.shortcut, config.batch_size);
    if (!speeds.contains(kind)) speeds[kind] = measure(config, *shape->second, threads);
    const Speed& speed = speeds[kind];
    const auto counts = data::profile_counts(config.subset, shape->second->train_counts, config.seed);
    RunEstimate each;
    each.images = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    each.steps = each.images / config.batch_size;
    each.seconds = config.epochs * (static_cast<double>(each.steps) * speed.step_seconds +
                                    static_cast<double>(shape->second->test_images) * speed.image_seconds);
    result.runs.push_back(each);
    if (result.runs.size() == 1) {
      result.step_seconds = speed.step_seconds;
      result.images_per_second = 1 / speed.image_seconds;
    }
  }
  return result;
}

}  // namespace longtail::study
