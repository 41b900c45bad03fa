// A long-tailed subset: which images of the training split take part. A view of indices, no pixels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/params.h"

namespace longtail::data {

// The parameters of a subset (section `data` of a study file). The seed is the run's.
struct SubsetConfig {
  std::string profile = "exp";        // exp, step, natural, counts
  double rho = 100;                   // largest class over smallest
  int n_max = 0;                      // images in the largest class; 0: as many as the smallest full class has
  std::string counts_file;            // for profile counts: one number a line, in label order
  std::string class_order = "label";  // label, shuffled, shuffled:SEED or a file of labels, largest class first
  std::string groups = "paper";       // paper, field or "A,B"
};
base::ParamTable<SubsetConfig> subset_params();

struct Subset {
  std::vector<std::int32_t> indices;  // into the training split, class after class
  std::vector<std::int64_t> counts;   // images of each class, by label
  // Images of class k are indices[first[k]] ... indices[first[k] + counts[k] - 1].
  std::vector<std::int64_t> first;

  std::int64_t size() const { return static_cast<std::int64_t>(indices.size()); }
  std::string hash() const;  // SHA-256 of the indices as little-endian 32-bit integers
};

// Number of images of each class under the profile.
std::vector<std::int64_t> profile_counts(const SubsetConfig& config, std::span<const std::int64_t> available);

// The paper's construction: for each class in order the images in file order, shuffled by one NumPy
// RandomState(seed) carried through all classes; the first n_k kept.
Subset make_subset(const SubsetConfig& config, std::span<const std::int32_t> labels, int classes, std::int64_t seed);

}  // namespace longtail::data
