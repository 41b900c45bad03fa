#include "longtail/theory/measure.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/data/augment.h"
#include "longtail/sampling/stream.h"

namespace longtail::theory {
namespace {

constexpr std::size_t kLanes = 8;  // independent sums, so that the compiler may use vectors

template <class Term>
double sum_in_lanes(std::size_t count, const Term& term) {
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  double sum = 0;
  for (; i < count; ++i) sum += term(i);
  for (const double lane : lanes) sum += lane;
  return sum;
}

double inner(std::span<const float> a, std::span<const float> b) {
  return sum_in_lanes(a.size(),
                      [&](std::size_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

}  // namespace

std::vector<float> ClassGradients::expected(std::span<const double> weights) const {
  std::vector<double> sum(parameters());
  for (int k = 0; k < moments.classes(); ++k) {
    const auto g = mean(k);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * g[i];
  }
  return {sum.begin(), sum.end()};
}

GradientCollector::GradientCollector(std::span<const std::int64_t> counts, std::size_t parameters)
    : sum_(parameters) {
  result_.moments.counts.assign(counts.begin(), counts.end());
  result_.moments.within.assign(counts.size(), 0.0);
  result_.moments.gram.assign(counts.size() * counts.size(), 0.0);
  result_.means.assign(counts.size() * parameters, 0.0F);
}

void GradientCollector::add(int k, std::span<const float> gradient) {
  if (k < class_ || gradient.size() != sum_.size())
    base::fail("gradients must come class after class, all of one length");
  while (class_ < k) close_class();
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += gradient[i];
  const double norm2 = inner(gradient, gradient);
  result_.image_norm2.push_back(norm2);
  squares_ += norm2;
  ++seen_;
}

// sigma^2 = mean |g_i|^2 - |g|^2 loses digits only if the gradients of a class hardly differ; the sums are in
// double.
void GradientCollector::close_class() {
  const std::int64_t count = result_.moments.counts[class_];
  if (seen_ != count) base::fail("class {} gave {} gradients, but it has {} images", class_, seen_, count);
  if (count > 0) {
    const auto n = static_cast<double>(count);
    const std::size_t first = static_cast<std::size_t>(class_) * sum_.size();
    for (std::size_t i = 0; i < sum_.size(); ++i) result_.means[first + i] = static_cast<float>(sum_[i] / n);
    const double mean2 =
        sum_in_lanes(sum_.size(), [&](std::size_t i) { return sum_[i] * sum_[i]; }) / (n * n);
    result_.moments.within[class_] = count > 1 ? std::max(squares_ / n - mean2, 0.0) : 0.0;
  }
  std::fill(sum_.begin(), sum_.end(), 0.0);
  squares_ = 0;
  seen_ = 0;
  ++class_;
}

ClassGradients GradientCollector::finish(base::ThreadPool& pool) {
  const int classes = result_.moments.classes();
  while (class_ < classes) close_class();
  // Row by row, the long rows first so that the threads finish together.
  pool.run(classes, [&](int index, int) {
    const int j = classes - 1 - index;
    for (int k = 0; k <= j; ++k) {
      const double product = inner(result_.mean(j), result_.mean(k));
      result_.moments.gram[static_cast<std::size_t>(j) * classes + k] = product;
      result_.moments.gram[static_cast<std::size_t>(k) * classes + j] = product;
    }
  });
  return std::move(result_);
}

GradientMeter::GradientMeter(nn::Engine& engine, const data::Dataset& dataset, const data::Subset& subset,
                             const nn::Loss& loss, int batch, base::ThreadPool& pool)
    : engine_(engine),
      dataset_(dataset),
      subset_(subset),
      loss_(loss),
      batch_(batch),
      pool_(pool),
      pixels_(data::bytes_per_image(engine.input_layout(), dataset.shape()) *
              static_cast<std::size_t>(batch)) {}

nn::Batch GradientMeter::load(std::span<const std::int64_t> images) {
  if (images.empty() || images.size() > static_cast<std::size_t>(batch_)) {
    base::fail("{} images in a batch; the gradient meter takes 1 to {}", images.size(), batch_);
  }
  rows_.clear();
  labels_.clear();
  for (const std::int64_t image : images) {
    rows_.push_back(subset_.indices[static_cast<std::size_t>(image)]);
    labels_.push_back(dataset_.train.labels[static_cast<std::size_t>(rows_.back())]);
  }
  data::write_batch(dataset_, dataset_.train, rows_, {}, engine_.input_layout(), pixels_.data(), pool_);
  return {pixels_.data(), labels_, static_cast<int>(images.size())};
}

ClassGradients GradientMeter::collect(const NetworkState& network, const OnProgress& on_progress) {
  GradientCollector collector(subset_.counts, network.parameters.size());
  std::vector<std::int64_t> images;
  for (std::int64_t first = 0; first < subset_.size(); first += batch_) {
    images.resize(static_cast<std::size_t>(std::min<std::int64_t>(batch_, subset_.size() - first)));
    std::iota(images.begin(), images.end(), first);
    const nn::Batch batch = load(images);
    engine_.image_gradients(network.parameters, network.buffers, batch, loss_,
                            [&](int image, std::span<const float> gradient) {
                              collector.add(labels_[static_cast<std::size_t>(image)], gradient);
                            });
    if (on_progress) on_progress(first + batch.size, subset_.size());
  }
  return collector.finish(pool_);
}

void GradientMeter::frozen(const NetworkState& network, std::span<const std::int64_t> images,
                           std::span<float> gradient) {
  engine_.frozen_gradient(network.parameters, network.buffers, load(images), loss_, gradient);
}

void GradientMeter::training(const NetworkState& network, std::span<const std::int64_t> images,
                             std::span<float> gradient) {
  scratch_ = network.buffers;
  engine_.gradient(network.parameters, scratch_, load(images), loss_, gradient);
}

void GradientMeter::settle(NetworkState& network, std::uint64_t seed) {
  const auto uniform = sampling::make_strategy("uniform");
  const int size = static_cast<int>(std::min<std::int64_t>(batch_, subset_.size()));
  const std::int64_t an_epoch = subset_.size() / size;
  std::vector<std::int64_t> images(static_cast<std::size_t>(size));
  std::vector<float> ignored(network.parameters.size());
  for (std::int64_t step = 0; step < std::max<std::int64_t>(an_epoch, 50); ++step) {
    const int epoch = static_cast<int>(step / an_epoch);
    const sampling::IndexStream stream(*uniform, subset_.counts, {epoch, epoch + 1}, seed);
    stream.fill(step % an_epoch * size, images);
    engine_.gradient(network.parameters, network.buffers, load(images), loss_, ignored);
  }
}

}  // namespace longtail::theory
