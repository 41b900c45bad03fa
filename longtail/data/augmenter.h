// The augmentation of training images, written as a chain: `none`, `crop_flip`, `crop_flip+mixup:alpha=0.2`.
// At most one link moves an image (crop_flip) and one mixes it with another (mixup, cutmix, remix). Each kind
// of link has a file in data/augmentations/.
//
//   const Augmenter augmenter = Augmenter::parse("crop_flip+mixup:alpha=0.2");
//   Mix mix = augmenter.mix({seed, epoch, position}, n_first, n_second);
//
// Everything is a pure function of (seed, epoch, position).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/spec.h"
#include "longtail/data/layout.h"

namespace longtail::data {

struct Place {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint64_t position = 0;
};

// How an image and its partner become one: `pixels` times the first plus 1 - `pixels` times the second;
// inside the box only the second. `label` is the weight of the first image's label.
struct Mix {
  float pixels = 1;
  int top = 0, left = 0, bottom = 0, right = 0;  // rows [top, bottom), columns [left, right)
  float label = 1;

  bool operator==(const Mix&) const = default;
};

class AugmentStep : public base::Chosen {
 public:
  enum class Does { kNothing, kMove, kMix };
  virtual Does does() const = 0;
  // Only for a step that mixes. `first` and `second` are the numbers of training images of the classes of the
  // image and its partner.
  virtual Mix mix(const Place&, int side, std::int64_t first, std::int64_t second) const;
};

class Augmenter {
 public:
  // An Error lists the augmentations that exist.
  static Augmenter parse(std::string_view text);

  const std::string& name() const { return name_; }
  bool crops_and_flips() const { return moves_; }
  bool mixes() const { return mixing_ != nullptr; }
  Mix mix(const Place& place, int side, std::int64_t first, std::int64_t second) const;
  // The position of the partner of the image at `place`, in an epoch of `draws` positions.
  static std::uint64_t partner(const Place& place, std::uint64_t draws);

 private:
  std::string name_;
  bool moves_ = false;
  std::shared_ptr<const AugmentStep> mixing_;
};

// "none | crop_flip | mixup:alpha=0.2 | ...", for help.
std::string augment_choices();
const std::vector<base::VariantInfo>& augmentations();

// Beta(alpha, alpha) at a place, in steps of 2^-20.
double beta_at(const Place& place, double alpha);

// Blends two normalised images of the same layout into the first.
void blend(const Mix& mix, PixelLayout layout, int channels, int side, void* first, const void* second);

}  // namespace longtail::data
