// The end of the network, in one place for all engines: the classifier over the features of an image. Its
// sums have a fixed order, with explicit fused multiply-adds, so its bits are the same on every CPU. Its
// loops are chosen at construction, for the CPU that base::chosen_cpu() names.
#pragma once

#include <memory>
#include <span>

#include "longtail/nn/resnet.h"

namespace longtail::nn {

// T is float; double in the reference.
template <class T>
class Classifier {
 public:
  virtual ~Classifier() = default;

  // Called before the images of a step or of a prediction; the parameters must live until the last call for
  // these. The other calls may come from several threads at once.
  virtual void begin(std::span<const T> parameters) = 0;
  // One image: the logits of its features.
  virtual void forward(const T* features, T* logits) const = 0;
  // One image: the gradient at its features from the gradient at its logits.
  virtual void backward(const T* features, const T* logit_gradient, T* feature_gradient) const = 0;
  // Classes [first, last) of the classifier's part of the flat gradient, overwritten by the sum over images
  // in order; `logit_gradients` is [image][class], `features` [image][feature].
  virtual void parameter_gradient(int images, int first, int last, const T* logit_gradients,
                                  const T* features, std::span<T> gradient) const = 0;
};

template <class T>
std::unique_ptr<Classifier<T>> make_classifier(const ResNetSpec& spec);

}  // namespace longtail::nn
