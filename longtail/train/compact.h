// A long-tailed subset uses a fifth of CIFAR-100's training images; the others need not stay in memory.
#pragma once

#include <initializer_list>

#include "longtail/data/dataset.h"
#include "longtail/data/subset.h"

namespace longtail::train {

// Drops the training images that none of the subsets has; the indices of the subsets are changed to match.
// Everything else, the hash included, stays that of the whole data set.
void keep_images_of(data::Dataset& data, std::initializer_list<data::Subset*> subsets);

}  // namespace longtail::train
