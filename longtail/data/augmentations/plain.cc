// Images as they are, or cropped and flipped (augment.h does the pixels).
#include "longtail/data/augmentations/kind.h"

namespace longtail::data {
namespace {

class Nothing final : public AugmentStep {
 public:
  explicit Nothing(const base::NoParameters&) {}
  Does does() const override { return Does::kNothing; }
};

class CropFlip final : public AugmentStep {
 public:
  explicit CropFlip(const base::NoParameters&) {}
  Does does() const override { return Does::kMove; }
};

}  // namespace

AugmentKind no_augmentation() { return base::variant<AugmentStep(), Nothing>("none", "Images as they are."); }

AugmentKind crop_flip() {
  return base::variant<AugmentStep(), CropFlip>("crop_flip",
                                                "Random crop by 4 and horizontal flip, the paper's.");
}

}  // namespace longtail::data
