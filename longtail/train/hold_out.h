// Part of a training subset kept aside to choose the best epoch on.
#pragma once

#include <cstdint>
#include <vector>

#include "longtail/data/subset.h"

namespace longtail::train {

struct HeldOut {
  data::Subset training;
  data::Subset validation;
};

// Images that a class of `count` gives up.
std::int64_t held_out_count(std::int64_t count, double fraction);

// Holds out `fraction` of each class, rounded to the nearest number, but never its last image. Which ones is
// a pure function of the seed and the place of an image in the subset. An Error if that is no image at all.
HeldOut hold_out(const data::Subset& subset, double fraction, std::int64_t seed);

}  // namespace longtail::train
