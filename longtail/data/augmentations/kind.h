// What the files of the augmentations share. Each ends with one function that returns its variant;
// augmenter.cc lists them.
#pragma once

#include "longtail/data/augmenter.h"

namespace longtail::data {

using AugmentKind = base::Variant<AugmentStep()>;

AugmentKind no_augmentation();
AugmentKind crop_flip();
AugmentKind mixup();
AugmentKind cutmix();
AugmentKind remix();

// Above this, Jöhnk's rejection sampling gets ever slower.
inline constexpr double kLargestAlpha = 4;

template <class Config>
void add_alpha(base::ParamTable<Config>& table, double Config::*alpha) {
  table
      .add("alpha", alpha,
           "The weight is a draw of Beta(alpha, alpha): small, and most images stay nearly whole.")
      .between(0.01, kLargestAlpha);
}

}  // namespace longtail::data
