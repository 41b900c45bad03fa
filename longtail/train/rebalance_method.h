// What can be done to the classifier of a trained run while its features are frozen, as text: "crt",
// "crt:epochs=5,lr=0.05", "tau_norm:tau=0.7". rebalance.h does it; docs/remedies.md has the formulas.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/base/spec.h"
#include "longtail/train/config.h"

namespace longtail::train {

inline constexpr const char* kNoRebalance = "none";
inline constexpr double kChooseTau = -1;  // choose it on held-out images

class RebalanceMethod : public base::Chosen {
 public:
  enum class Kind {
    kRetrain,    // the classifier is trained again from its initial weights on class-balanced draws
    kScales,     // a factor for the logit of each class is trained in the same way
    kNormalise,  // w_k / |w_k|^tau, no bias
    kAdjust,     // logit_k - tau log(n_k / n)
    kMeans,      // the nearest class mean of the features
  };
  Kind kind = Kind::kRetrain;
  int epochs = 1;
  double lr = 0;
  double tau = 0;
  bool cosine = true;  // kMeans: by angle, else by distance

  bool trains() const { return kind == Kind::kRetrain || kind == Kind::kScales; }
  // Half a cosine from lr down to 0.
  double rate(int epoch) const;
};

// An Error lists the methods.
std::unique_ptr<RebalanceMethod> make_rebalance_method(std::string_view text);
const std::vector<base::VariantInfo>& rebalance_methods();
// "crt:epochs=10,lr=0.1 | ...", for help.
std::string rebalance_choices();
// `none`, or the text of a method with defaults left out.
std::string canonical_rebalance(std::string_view text);

// The epochs that the log of a run has when it is finished.
int logged_epochs(const RunConfig& config);

}  // namespace longtail::train
