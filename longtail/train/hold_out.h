// Part of a training subset that is kept aside to choose the best epoch on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/data/subset.h"

namespace longtail::train {

struct HeldOut {
  data::Subset training;
  data::Subset validation;
};

// A fraction below 0 leaves it to the data: a tenth if that holds out at least ten images of every group that
// has classes, so that no mean over a group depends on a few images; else nothing.
double decided_fraction(double fraction, std::span<const std::int64_t> counts,
                        std::span<const data::Group> groups);

// Number of images held out of a class of `count`.
std::int64_t held_out_count(std::int64_t count, double fraction);

// Holds out `fraction` of each class, rounded to the nearest number, but never its last image. Which images
// is a pure function of the seed and an image's place in the subset. An Error if no image is held out.
HeldOut hold_out(const data::Subset& subset, double fraction, std::int64_t seed);

}  // namespace longtail::train
