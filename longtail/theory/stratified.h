// The part of the variance that is left between classes when batches are stratified (sampling/strata.h).
#pragma once

#include <span>

#include "longtail/theory/exact.h"

namespace longtail::theory {

// E |sum over the classes of (N_k - b w_k) g_k|^2 / b^2, N_k the draws of class k in a batch: exact, by going
// through the values of the one random number of a batch between which no N_k changes.
double stratified_between(const Moments& moments, const Draw& draw, std::span<const int> classes);

}  // namespace longtail::theory
