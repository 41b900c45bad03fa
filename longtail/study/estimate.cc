#include "longtail/study/estimate.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "longtail/base/error.h"
#include "longtail/base/threads.h"
#include "longtail/data/published.h"
#include "longtail/data/registry.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/init.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/hold_out.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/run.h"

namespace longtail::study {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kBudget = 1.5;  // seconds for each of training and prediction
constexpr int kMostRounds = 20;

// The shape of a data set: the only property that affects the time.
struct Shape {
  int channels = 3;
  std::vector<std::int64_t> train_counts;
  std::int64_t test_images = 0;
};

Shape shape_of(const train::RunConfig& config, const std::string& folder) {
  const std::string& name = config.dataset;
  if (const auto* published = data::find_published(name)) {
    return {published->channels, published->train_counts,
            std::accumulate(published->test_counts.begin(), published->test_counts.end(), std::int64_t{0})};
  }
  const data::Dataset dataset =
      data::load_dataset(name, folder.empty() ? config.data : folder, train::picture_options(config));
  return {dataset.channels, data::count_labels(dataset.train.labels, dataset.classes()), dataset.test.size()};
}

RunSize size_of(const PlannedRun& run, const Shape& shape) {
  const train::RunConfig& config = run.config;
  auto counts = data::profile_counts(config.subset, shape.train_counts, config.seed);
  const auto groups = data::Groups::parse(config.subset.groups).of(counts);
  if (const double fraction = train::decided_fraction(config.val_fraction, counts, groups); fraction > 0) {
    for (std::int64_t& count : counts) count -= train::held_out_count(count, fraction);
  }
  const std::int64_t images = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  train::check_batch(config, images);
  return {images, images / config.batch_size, shape.test_images, shape.channels,
          static_cast<int>(counts.size())};
}

// Seconds per round after one warm-up round: the fastest (or the mean, if `usual`) of as many as the budget
// allows.
double time_of(const std::function<void()>& work, bool usual) {
  work();
  double best = 1e9;
  const auto begin = Clock::now();
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  int rounds = 0;
  while (rounds < kMostRounds || usual) {
    const auto start = Clock::now();
    work();
    ++rounds;
    best = std::min(best, since(start));
    if (since(begin) > kBudget) break;
  }
  return usual ? since(begin) / rounds : best;
}

struct Speed {
  double step_seconds = 0;
  double image_seconds = 0;  // prediction
};

Speed measure(const train::RunConfig& config, const RunSize& run, int threads, bool usual) {
  base::ThreadPool pool(threads > 0 ? threads : base::available_cpus());
  const auto spec = train::network_of(config, run.classes, run.channels);
  const auto engine = nn::make_engine(config.engine, spec, config.batch_size, pool);
  const auto parameters = nn::initial_parameters(spec, 1);
  auto buffers = nn::initial_buffers(spec);
  std::vector<float> gradient(parameters.size());
  const auto loss =
      nn::make_loss(config.loss, std::vector<std::int64_t>(static_cast<std::size_t>(run.classes), 1));
  const auto size = static_cast<std::size_t>(config.batch_size);
  // Bytes that are small numbers in either layout.
  const std::vector<std::uint8_t> pixels(
      data::bytes_per_image(engine->input_layout(), {run.channels, spec.side}) * size, 0x3c);
  std::vector<std::int32_t> labels(size);
  for (std::size_t i = 0; i < size; ++i)
    labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(run.classes));
  std::vector<float> logits(size * static_cast<std::size_t>(run.classes));
  const nn::Batch batch{pixels.data(), labels, config.batch_size};
  Speed speed;
  speed.step_seconds = time_of([&] { engine->gradient(parameters, buffers, batch, *loss, gradient); }, usual);
  speed.image_seconds = time_of([&] { engine->predict(parameters, buffers, batch, logits); }, usual) /
                        static_cast<double>(config.batch_size);
  return speed;
}

// The mean of `jobs` measurements made at the same time.
Speed measure_together(const train::RunConfig& config, const RunSize& run, int threads, int jobs) {
  std::vector<Speed> speeds(static_cast<std::size_t>(jobs));
  base::ThreadPool together(jobs);
  together.run(jobs, [&](int job, int) {
    speeds[static_cast<std::size_t>(job)] = measure(config, run, threads, true);
  });
  Speed mean;
  for (const Speed& speed : speeds) {
    mean.step_seconds += speed.step_seconds / jobs;
    mean.image_seconds += speed.image_seconds / jobs;
  }
  return mean;
}

// Seconds of a run. Epochs taken over from another run of the study cost nothing. A rebalanced run only
// computes features, without a backward pass.
double seconds_of(const PlannedRun& run, const RunSize& size, const Speed& speed,
                  const std::optional<Beginning>& beginning) {
  const double testing = static_cast<double>(size.test_images) * speed.image_seconds;
  double training = static_cast<double>(size.steps) * speed.step_seconds;
  const int epochs = train::logged_epochs(run.config) - (beginning ? beginning->epochs : 0);
  if (run.config.rebalance != train::kNoRebalance)
    training = static_cast<double>(size.images) * speed.image_seconds;
  return epochs * (training + testing);
}

}  // namespace

std::vector<RunSize> run_sizes(const std::vector<PlannedRun>& runs, const std::string& data) {
  std::map<std::string, Shape> shapes;
  std::vector<RunSize> sizes;
  for (const PlannedRun& run : runs) {
    const std::string& name = run.config.dataset;
    if (!shapes.contains(name)) shapes.emplace(name, shape_of(run.config, data));
    try {
      sizes.push_back(size_of(run, shapes.at(name)));
    } catch (const base::Error& error) {
      base::fail("the run {} cannot be: {}", run.name, error.what());
    }
  }
  return sizes;
}

Estimate estimate(const std::vector<PlannedRun>& runs, const std::vector<RunSize>& sizes, int threads,
                  int jobs) {
  using NetworkShape = std::tuple<std::string, std::string, std::string, int, int, int>;
  std::map<NetworkShape, Speed> speeds;
  const auto kind_of = [](const train::RunConfig& config) {
    return NetworkShape{config.dataset,    config.model,      config.shortcut,
                        config.batch_size, config.image_size, config.width};
  };
  const auto beginnings = beginnings_of(runs);
  Estimate result;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const train::RunConfig& config = runs[i].config;
    const NetworkShape kind = kind_of(config);
    if (!speeds.contains(kind))
      speeds[kind] = jobs > 0 ? measure_together(config, sizes[i], threads, jobs)
                              : measure(config, sizes[i], threads, false);
    result.seconds.push_back(seconds_of(runs[i], sizes[i], speeds[kind], beginnings[i]));
  }
  if (!runs.empty()) {
    const Speed& speed = speeds[kind_of(runs[0].config)];
    result.step_seconds = speed.step_seconds;
    result.images_per_second = 1 / speed.image_seconds;
  }
  return result;
}

}  // namespace longtail::study
