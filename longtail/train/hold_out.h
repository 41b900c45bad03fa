// Part of a training subset kept aside to choose the best epoch on.
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
// has classes, so that no mean over a group hangs on a few images; else nothing.
double decided_fraction(double fraction, std::span<const std::int64_t> counts,
                        std::span<const data::Group> groups);

// Images that a class of `count` gives up.
std::int64_t held_out_count(std::int64_t count, double fraction);

// Holds out `fraction` of each class, rounded to the nearest number, but never its last image. Which ones is
// a pure function of the seed and the place of an image in the subset. An Error if that is no image at all.
HeldOut hold_out(const data::Subset& subset, double fraction, std::int64_t seed);

}  // namespace longtail::train
