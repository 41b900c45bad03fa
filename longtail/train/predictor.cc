#include "longtail/train/predictor.h"

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/data/published.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/evaluate.h"

namespace longtail::train {
namespace {

using base::fail;

constexpr int kBatch = 128;

// Older logs do not say how pixels are scaled; for published data sets it is known.
ImageFacts image_facts(const RunLog& log, int channels, const std::filesystem::path& run) {
  if (log.image.channels > 0) return log.image;
  const data::PublishedData* published = data::find_published(log.dataset);
  if (!published) {
    fail(
        "the run in {} was made by a version that did not keep the mean and deviation of its pictures; train "
        "it again to use it on new ones",
        run.string());
  }
  ImageFacts image;
  image.channels = channels;
  image.side = data::kSide;
  image.mean.assign(published->mean.begin(), published->mean.begin() + channels);
  image.deviation.assign(published->deviation.begin(), published->deviation.begin() + channels);
  return image;
}

std::string usable_engine(const std::string& wanted, const std::string& of_run, const nn::ResNetSpec& spec) {
  if (!wanted.empty()) return nn::resolve_engine(wanted, spec);
  try {
    return nn::resolve_engine(of_run, spec);
  } catch (const base::Error&) {
    return nn::resolve_engine("auto", spec);
  }
}

std::vector<double> softmax(std::span<const float> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> chances;
  double sum = 0;
  for (const float logit : logits) {
    chances.push_back(std::exp(logit - highest));
    sum += chances.back();
  }
  for (double& chance : chances) chance /= sum;
  return chances;
}

}  // namespace

Predictor::Predictor(const std::filesystem::path& run, const PredictorOptions& options)
    : state_(read_state(run)),
      network_(options.last ? &state_.network : &state_.best),
      epoch_(options.last ? state_.epochs_done : state_.log->best_epoch + 1),
      pool_(std::make_unique<base::ThreadPool>(options.threads > 0 ? options.threads
                                                                   : base::available_cpus())) {
  const ImageFacts image = image_facts(log(), state_.channels, run);
  if (image.channels != state_.channels) {
    fail("the log in {} speaks of {} channels, but the network has {}", run.string(), image.channels,
         state_.channels);
  }
  form_ = data::parse_form(image.fit);
  frame_.channels = state_.channels;
  frame_.side = state_.spec().side;
  frame_.class_names = log().class_names;
  for (std::size_t c = 0; c < image.mean.size() && c < frame_.mean.size(); ++c) {
    frame_.mean[c] = static_cast<float>(image.mean[c]);
    frame_.deviation[c] = static_cast<float>(image.deviation[c]);
  }
  engine_ = nn::make_engine(usable_engine(options.engine, state_.config.at("engine"), state_.spec()),
                            state_.spec(), kBatch, *pool_);
}

std::vector<std::vector<double>> Predictor::probabilities(std::vector<std::uint8_t> pixels) const {
  data::Split split;
  split.labels.assign(pixels.size() / frame_.image_bytes(), 0);
  split.pixels = std::move(pixels);
  std::vector<std::vector<double>> all;
  if (split.labels.empty()) return all;
  const auto classes = static_cast<std::size_t>(state_.classes);
  std::vector<float> logits(classes * kBatch);
  const double scale = logit_scale(config_from_map(state_.config));
  const auto queue = plain_batches(frame_, split, {}, engine_->input_layout(), kBatch);
  while (const BatchQueue::Slot* slot = queue->next()) {
    const std::span<float> out = std::span(logits).first(slot->labels.size() * classes);
    engine_->predict(network_->parameters, network_->buffers, slot->batch(), out);
    for (float& logit : out) logit = static_cast<float>(logit * scale);
    for (std::size_t i = 0; i < slot->labels.size(); ++i)
      all.push_back(softmax(out.subspan(i * classes, classes)));
  }
  return all;
}

}  // namespace longtail::train
