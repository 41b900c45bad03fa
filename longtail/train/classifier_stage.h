// The arithmetic of rebalancing: a linear classifier, rebuilt on features that stay as they are. It knows no
// images and no files. Sums have a fixed order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/head.h"
#include "longtail/nn/sgd.h"
#include "longtail/train/rebalance_method.h"

namespace longtail::train {

// Features of images, one after the other, and their labels.
struct Features {
  int width = 0;
  std::vector<float> values{};
  std::vector<std::int32_t> labels{};

  const float* of(std::size_t image) const { return values.data() + image * static_cast<std::size_t>(width); }
};

// The part of the flat parameters that is the classifier's: [classes][width], then a bias for each class.
struct LinearHead {
  int classes = 0;
  int width = 0;
  std::span<float> weight;
  std::span<float> bias;

  std::span<float> row(int k) const {
    return weight.subspan(static_cast<std::size_t>(k) * static_cast<std::size_t>(width),
                          static_cast<std::size_t>(width));
  }
};
// The classifier of a network with a linear head; an Error if it has another head.
LinearHead head_of(const nn::ResNetSpec& spec, std::span<float> parameters);

// Multiplies weights and bias by the factor that a loss puts on the logits (nn/loss.h). The result is the
// classifier that cross-entropy would have trained, with which everything below begins.
void take_scale(double scale, const LinearHead& head);
// Divides the weights of each class by |w_k|^tau, with bias 0 (Kang et al., 2020). A row of zeros stays.
void normalise(double tau, const LinearHead& head);
// Subtracts tau log(n_k / n) from the bias (Menon et al., 2021); a class without images stays.
void adjust(double tau, std::span<const std::int64_t> counts, const LinearHead& head);
// Makes the logit of the nearest class mean c the highest: by angle w = c / |c|; by distance w = 2 c,
// b = -|c|^2. A class without images is never nearest.
void take_means(bool cosine, const Features& training, const LinearHead& head);

// The results of a classifier on features: mean cross-entropy and accuracies in percent.
struct HeadResult {
  double loss = 0;
  double accuracy = 0;
  double balanced = 0;  // mean over the classes that have images
};
HeadResult measure_head(const nn::ResNetSpec& spec, std::span<const float> parameters,
                        const Features& features);

// The first of 0, 0.1, ..., 2 with the highest balanced accuracy. `parameters` are the trained network's.
double choose_tau(const RebalanceMethod& method, const nn::ResNetSpec& spec,
                  std::span<const std::int64_t> counts, std::span<const float> parameters,
                  const Features& features);

// SGD on the classifier, or on a factor for each class's logit. Its state between steps is an array as long
// as the parameters, so that a checkpoint can keep it: for the classifier, the momentum at the classifier's
// place; for factors, first the momentum, then the factors.
class HeadTrainer {
 public:
  // `trained` is the network whose features are used; it must live as long. `sgd.lr` is not used: see step().
  HeadTrainer(const RebalanceMethod& method, const nn::ResNetSpec& spec, std::span<const float> trained,
              const nn::SgdConfig& sgd);

  // Before the first step: `initial` has the initial weights of the classifier.
  void begin(std::span<const float> initial, std::span<float> parameters, std::span<float> memory) const;
  // One batch of features, cross-entropy.
  nn::StepResult step(double lr, std::span<const float> features, std::span<const std::int32_t> labels,
                      std::span<float> parameters, std::span<float> memory);

 private:
  nn::StepResult logits_and_slopes(std::span<const float> features, std::span<const std::int32_t> labels,
                                   std::span<const float> factors);
  void scale(std::span<const float> factors, std::span<float> parameters) const;

  RebalanceMethod::Kind kind_;
  nn::NetworkPlan plan_;
  std::span<const float> trained_;
  nn::SgdConfig sgd_;
  std::unique_ptr<nn::Classifier<float>> classifier_;
  std::unique_ptr<nn::Loss> loss_;
  std::vector<float> logits_, slopes_, gradient_;
};

}  // namespace longtail::train
