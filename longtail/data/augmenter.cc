#include "longtail/data/augmenter.h"

#include <bit>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/philox.h"
#include "longtail/data/augment.h"
#include "longtail/data/augmentations/kind.h"

namespace longtail::data {
namespace {

constexpr int kMostTries = 1 << 16;
constexpr double kSteps = 1 << 20;

const base::Family<AugmentStep()>& family() {
  static const base::Family<AugmentStep()> all("augmentation",
                                               {crop_flip(), no_augmentation(), mixup(), cutmix(), remix()});
  return all;
}

float to_float(float value) { return value; }
float to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
void store(float value, float& out) { out = value; }
void store(float value, std::uint16_t& out) { out = to_bf16(value); }

// Blends pixel by pixel. `channel` and `pixel` are the distances in memory between channels and pixels.
template <class Value>
void blend_values(const Mix& mix, int channels, int side, int channel, int pixel, Value* first,
                  const Value* second) {
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const bool inside = y >= mix.top && y < mix.bottom && x >= mix.left && x < mix.right;
      if (!inside && mix.pixels == 1) continue;
      const float weight = inside ? 0 : mix.pixels;
      for (int c = 0; c < channels; ++c) {
        const int at = (y * side + x) * pixel + c * channel;
        if (weight == 0) {
          first[at] = second[at];
        } else {
          store(weight * to_float(first[at]) + (1 - weight) * to_float(second[at]), first[at]);
        }
      }
    }
  }
}

}  // namespace

Mix AugmentStep::mix(const Place&, int, std::int64_t, std::int64_t) const { return {}; }

Augmenter Augmenter::parse(std::string_view text) {
  Augmenter result;
  std::string move, mixing;
  for (const std::string& link : base::split_chain(text)) {
    std::shared_ptr<const AugmentStep> step = family().make(link);
    if (step->does() == AugmentStep::Does::kNothing) continue;
    std::string& held = step->does() == AugmentStep::Does::kMove ? move : mixing;
    if (!held.empty()) {
      base::fail("augmentation `{}` has both `{}` and `{}`; an image is {} in one way at most", text, held,
                 step->name(), step->does() == AugmentStep::Does::kMove ? "moved" : "mixed");
    }
    held = step->name();
    if (step->does() == AugmentStep::Does::kMove) {
      result.moves_ = true;
    } else {
      result.mixing_ = std::move(step);
    }
  }
  result.name_ = move.empty() && mixing.empty() ? "none" : move;
  if (!mixing.empty()) result.name_ += (move.empty() ? "" : "+") + mixing;
  return result;
}

Mix Augmenter::mix(const Place& place, int side, std::int64_t first, std::int64_t second) const {
  return mixing_ ? mixing_->mix(place, side, first, second) : Mix{};
}

std::uint64_t Augmenter::partner(const Place& place, std::uint64_t draws) {
  const base::Block block =
      base::Stream{place.seed, base::Purpose::kMixPartner, place.epoch}.block(place.position);
  return base::scale(base::join(block[0], block[1]), draws);
}

std::string augment_choices() { return family().choices() + " | crop_flip+mixup:alpha=0.2 ..."; }

const std::vector<base::VariantInfo>& augmentations() { return family().infos(); }

// Jöhnk (1964): draws U^(1/alpha) and V^(1/alpha) until their sum is at most 1; the result is the first over
// the sum. Rounded, so that the last bit of a power, on which maths libraries differ, does not matter.
double beta_at(const Place& place, double alpha) {
  const base::Stream stream{place.seed, base::Purpose::kMixWeight, place.epoch};
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const base::Block block = stream.block(place.position * kMostTries + static_cast<std::uint64_t>(attempt));
    const double u = base::unit(base::join(block[0], block[1])),
                 v = base::unit(base::join(block[2], block[3]));
    if (alpha == 1) return std::round(u * kSteps) / kSteps;
    const double x = std::pow(u, 1 / alpha), y = std::pow(v, 1 / alpha);
    if (x + y <= 1 && x + y > 0) return std::round(x / (x + y) * kSteps) / kSteps;
  }
  return 0.5;  // less likely than a hardware error
}

void blend(const Mix& mix, PixelLayout layout, int channels, int side, void* first, const void* second) {
  if (layout == PixelLayout::kNchwF32) {
    blend_values(mix, channels, side, side * side, 1, static_cast<float*>(first),
                 static_cast<const float*>(second));
  } else {
    blend_values(mix, channels, side, 1, channels, static_cast<std::uint16_t*>(first),
                 static_cast<const std::uint16_t*>(second));
  }
}

}  // namespace longtail::data
