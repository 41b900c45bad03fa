// The between-class part of the variance that remains when batches are stratified (sampling/strata.h).
#pragma once

#include <span>

#include "longtail/theory/exact.h"

namespace longtail::theory {

// E |sum over the classes of (N_k - b w_k) g_k|^2 / b^2, N_k the draws of class k in a batch. Exact: the one
// random number of a batch is divided into intervals in which no N_k changes.
double stratified_between(const Moments& moments, const Draw& draw, std::span<const int> classes);

}  // namespace longtail::theory
