// The narrow interface between training and arithmetic: gradient of a batch, prediction of a batch.
// registry.h lists the engines behind it; nothing outside nn knows which one runs.
//
// Parameters, gradients and batch-norm statistics are flat fp32 arrays in the order of
// parameter_layout(spec). Results are bit-identical on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/threads.h"
#include "longtail/data/layout.h"
#include "longtail/nn/loss.h"
#include "longtail/nn/resnet.h"

namespace longtail::nn {

// Images in the layout the engine asked for, one after the other.
struct Batch {
  const void* images = nullptr;
  std::span<const std::int32_t> labels;  // may be empty for prediction
  int size = 0;
  // For mixed images: the second label of each and the weight of the first label, from 0 to 1. Empty: nothing
  // is mixed.
  std::span<const std::int32_t> second = {};
  std::span<const float> weight = {};
  // If not empty, gradient() writes for each image whether its main label was predicted (image_loss.h).
  std::span<std::uint8_t> hits = {};
};

struct StepResult {
  double loss = 0;  // mean over the batch
  int correct = 0;  // images whose largest logit is at the (main) label; the first largest on a tie
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  virtual const ResNetSpec& spec() const = 0;
  virtual data::PixelLayout input_layout() const = 0;

  // Training mode: batch norm by the statistics of the batch, whose moving averages in `buffers` are updated
  // (momentum 0.1, unbiased variance). `gradient` is overwritten by the gradient of the mean loss.
  virtual StepResult gradient(std::span<const float> parameters, std::span<float> buffers, const Batch& batch,
                              const Loss& loss, std::span<float> gradient) = 0;

  // Evaluation mode: batch norm by the running statistics. Writes size x classes logits.
  virtual void predict(std::span<const float> parameters, std::span<const float> buffers, const Batch& batch,
                       std::span<float> logits) = 0;

  // Evaluation-mode gradient of every single image, one after the other in the order of the batch:
  // sink(i, gradient of image i's loss). For the analysis of gradients. The sink runs on the calling thread.
  using ImageSink = std::function<void(int image, std::span<const float> gradient)>;
  virtual void image_gradients(std::span<const float> parameters, std::span<const float> buffers,
                               const Batch& batch, const Loss& loss, const ImageSink& sink) = 0;

  // Evaluation-mode gradient of the mean loss of a batch; the running statistics stay as they are. It is the
  // mean of image_gradients; this default, for engines that have no faster way, computes it like that.
  virtual void frozen_gradient(std::span<const float> parameters, std::span<const float> buffers,
                               const Batch& batch, const Loss& loss, std::span<float> gradient) {
    std::vector<double> sum(gradient.size());
    image_gradients(parameters, buffers, batch, loss, [&sum](int, std::span<const float> image) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += image[i];
    });
    for (std::size_t i = 0; i < sum.size(); ++i) gradient[i] = static_cast<float>(sum[i] / batch.size);
  }
};

// kind: "auto" or a name of the registry. `auto` takes the first engine of the registry that supports the
// network on this CPU. An Error says why an engine cannot run here or does not support the network. Batches
// may have any size from 1 to max_batch. The pool must outlive the engine.
std::unique_ptr<Engine> make_engine(std::string_view kind, const ResNetSpec& spec, int max_batch,
                                    base::ThreadPool& pool);

// What `kind` means for the network on this machine: a name of the registry, with the same Errors.
std::string resolve_engine(std::string_view kind, const ResNetSpec& spec = {});

// For engines: an Error if the batch is empty, larger than max_batch, or has a missing or impossible label.
void check_batch(const ResNetSpec& spec, const Batch& batch, int max_batch, bool with_labels);

}  // namespace longtail::nn
