// Every batch has the class shares of another strategy as nearly as whole numbers allow (strata.h): less
// variance than independent draws, the same expectation.
#include "longtail/sampling/kind.h"

namespace longtail::sampling {
namespace {

struct StratifiedConfig {
  std::string of = "uniform";
};

class Stratified final : public Strategy {
 public:
  explicit Stratified(StratifiedConfig& config) : of_(make_strategy(config.of)) {
    config.of = base::in_brackets(of_->name());
  }
  std::vector<double> probabilities(std::span<const std::int64_t> counts,
                                    const Situation& situation) const override {
    return of_->probabilities(counts, situation);
  }
  bool stratified(const Situation&) const override { return true; }
  Feedback feedback() const override { return of_->feedback(); }
  std::optional<Deferral> deferral(int epochs) const override {
    std::optional<Deferral> change = of_->deferral(epochs);
    if (change) change->first = canonical_strategy("stratified:of=" + base::in_brackets(change->first));
    return change;
  }

 private:
  std::unique_ptr<Strategy> of_;
};

}  // namespace

StrategyKind stratified() {
  base::ParamTable<StratifiedConfig> table;
  // Checked when it is built.
  table.add("of", &StratifiedConfig::of, "The strategy whose shares a batch has.")
      .check("a strategy", [](const std::string&) {});
  return kind_of<Stratified>(
      "stratified",
      "Every batch has the class shares of `of` as nearly as whole numbers allow; parameters in "
      "brackets: of=power(q=0.25).",
      table);
}

}  // namespace longtail::sampling
