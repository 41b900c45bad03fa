#include "longtail/train/rebalance_method.h"

#include <cmath>
#include <numbers>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::train {
namespace {

using Kind = RebalanceMethod::Kind;
using MethodKind = base::Variant<RebalanceMethod()>;

struct TrainingConfig {
  int epochs = 10;
  double lr = 0.1;
};
struct NormConfig {
  double tau = kChooseTau;
};
struct PriorConfig {
  double tau = 1;
};
struct MeansConfig {
  std::string distance = "cosine";
};

template <Kind the_kind>
class Trained final : public RebalanceMethod {
 public:
  explicit Trained(const TrainingConfig& config) {
    kind = the_kind;
    epochs = config.epochs;
    lr = config.lr;
  }
};

template <Kind the_kind, class Config>
class WithTau final : public RebalanceMethod {
 public:
  explicit WithTau(const Config& config) {
    kind = the_kind;
    tau = config.tau;
  }
};

class Means final : public RebalanceMethod {
 public:
  explicit Means(const MeansConfig& config) {
    kind = Kind::kMeans;
    cosine = config.distance == "cosine";
  }
};

template <Kind kind>
MethodKind trained(const std::string& name, const std::string& help) {
  base::ParamTable<TrainingConfig> table;
  table.add("epochs", &TrainingConfig::epochs, "Epochs, each of as many draws as there are training images.")
      .between(1, 100000);
  table.add("lr", &TrainingConfig::lr, "Learning rate at first; half a cosine takes it down to 0.").above(0);
  return base::variant<RebalanceMethod(), Trained<kind>>(name, help, table);
}

template <Kind kind, class Config>
MethodKind with_tau(const std::string& name, const std::string& help) {
  base::ParamTable<Config> table;
  table
      .add("tau", &Config::tau,
           "How strongly; -1: chosen from 0, 0.1, ..., 2 by balanced accuracy on held-out training images.")
      .check("-1, or from 0 to 10", [](const std::string& text) {
        const double value = base::parse_real(text).value_or(-2);
        if (value != kChooseTau && !(value >= 0 && value <= 10))
          base::fail("`tau` is `{}`; it must be -1, or from 0 to 10", text);
      });
  return base::variant<RebalanceMethod(), WithTau<kind, Config>>(name, help, table);
}

MethodKind means() {
  base::ParamTable<MeansConfig> table;
  table.add("distance", &MeansConfig::distance, "Nearest by angle or by length.")
      .one_of({"cosine", "euclidean"});
  return base::variant<RebalanceMethod(), Means>(
      "ncm", "Nearest class mean: the class whose mean training feature is nearest.", table);
}

const base::Family<RebalanceMethod()>& family() {
  static const base::Family<RebalanceMethod()> all(
      "rebalancing",
      {trained<Kind::kRetrain>("crt", "The classifier trained again on class-balanced draws."),
       trained<Kind::kScales>("lws",
                              "A factor for the logit of each class, trained on class-balanced draws."),
       with_tau<Kind::kNormalise, NormConfig>(
           "tau_norm", "Weights of each class divided by their norm to the power tau."),
       with_tau<Kind::kAdjust, PriorConfig>("logit_adjust", "tau log(n_k / n) taken from each logit."),
       means()});
  return all;
}

}  // namespace

double RebalanceMethod::rate(int epoch) const {
  return lr * (0.5 * (1 + std::cos(std::numbers::pi * epoch / epochs)));
}

std::unique_ptr<RebalanceMethod> make_rebalance_method(std::string_view text) { return family().make(text); }
const std::vector<base::VariantInfo>& rebalance_methods() { return family().infos(); }
std::string rebalance_choices() { return family().choices(); }

std::string canonical_rebalance(std::string_view text) {
  return text == kNoRebalance ? kNoRebalance : make_rebalance_method(text)->name();
}

int logged_epochs(const RunConfig& config) {
  return config.rebalance == kNoRebalance ? config.epochs : make_rebalance_method(config.rebalance)->epochs;
}

}  // namespace longtail::train
