// What identifies a run: all decided parameters, in one text. Separate from the table of parameters, because
// deciding asks the engines, and code that only reads logs has none.
#include <algorithm>
#include <filesystem>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/data/augmenter.h"
#include "longtail/data/published.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/loss.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"
#include "longtail/train/rebalance_method.h"
#include "longtail/train/schedule.h"

namespace longtail::train {

RunConfig resolved(const RunConfig& config) {
  check(config);
  RunConfig result = config;
  // A named engine is left alone: a machine that cannot run it may still name the run.
  if (config.engine == "auto") result.engine = nn::resolve_engine("auto", network_of(config, 1, 3));
  result.strategy = sampling::canonical_strategy(config.strategy);
  result.loss = nn::canonical_loss(config.loss);
  result.augment = data::Augmenter::parse(config.augment).name();
  result.schedule = make_schedule(config.schedule)->name();
  result.rebalance = canonical_rebalance(config.rebalance);
  result.subset = data::decided(config.subset, config.dataset);
  const bool published = data::find_published(config.dataset) != nullptr;
  if (config.select == "default") result.select = published ? "overall" : "balanced";
  if (published && config.val_fraction < 0) result.val_fraction = 0;
  if (result.select == "last") result.val_fraction = std::max(config.val_fraction, 0.0);  // nothing is chosen
  // Parameters that the profile does not use must not distinguish two runs.
  if (!data::takes_ratio(result.subset)) {
    const data::SubsetConfig unused;
    result.subset.rho = unused.rho;
    result.subset.n_max = unused.n_max;
    result.subset.class_order = unused.class_order;
  }
  if (result.schedule != "multistep") {
    result.milestones.clear();
  } else if (result.milestones.empty()) {
    result.milestones = {static_cast<int>(config.epochs * std::int64_t{4} / 5),
                         static_cast<int>(config.epochs * std::int64_t{9} / 10)};
  }
  std::sort(result.milestones.begin(), result.milestones.end());
  // 80% and 90% of a few epochs may be the same epoch.
  if (config.milestones.empty()) {
    result.milestones.erase(std::unique(result.milestones.begin(), result.milestones.end()),
                            result.milestones.end());
    std::erase(result.milestones, 0);
  }
  return result;
}

namespace {

// A run is identified by what a file contains, not by its path. Without the file the run cannot be
// identified. A pipe can be read only once, and that is left to the run itself.
std::string content_of(const std::string& param, const std::string& value) {
  if (!names_file(param, value)) return value;
  std::error_code error;
  const auto status = std::filesystem::status(value, error);
  if (!std::filesystem::exists(status)) {
    base::fail<base::StorageError>(
        "`{}` is `{}`, which is {}no file that can be read from {}; give its whole path, or bring it back",
        param, value, param == "class_order" ? "neither label nor shuffled nor shuffled:SEED, and " : "",
        std::filesystem::current_path(error).string());
  }
  if (!std::filesystem::is_regular_file(status)) return value;
  return "sha256:" + base::sha256(base::read_text(value));
}

}  // namespace

std::string config_identity(const RunConfig& config) {
  const RunConfig decided = resolved(config);
  std::string text;
  for (const auto& [name, value] : config_map(decided)) text += name + "=" + content_of(name, value) + "\n";
  return text;
}

std::string config_hash(const RunConfig& config) { return base::sha256(config_identity(config)); }

}  // namespace longtail::train
