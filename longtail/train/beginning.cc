#include "longtail/train/beginning.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/nn/loss.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/run_folder.h"

namespace longtail::train {

std::optional<Beginning> beginning_of(const RunConfig& config) {
  Beginning result{resolved(config), config.epochs};
  const auto strategy = sampling::make_strategy(config.strategy);
  if (const auto change = strategy->deferral(config.epochs)) {
    result.config.strategy = sampling::canonical_strategy(change->first);
    result.epochs = std::min(result.epochs, change->epoch);
    // What is told to the second strategy must have been measured from the start.
    if (sampling::make_strategy(change->first)->feedback() != strategy->feedback()) return std::nullopt;
  }
  if (const auto change = nn::make_loss(config.loss, {})->deferral(config.epochs)) {
    result.config.loss = nn::canonical_loss(change->first);
    result.epochs = std::min(result.epochs, change->epoch);
  }
  if (result.epochs <= 0 || result.epochs >= config.epochs) return std::nullopt;
  return result;
}

std::filesystem::path branch_path(const std::filesystem::path& run, int epochs_done) {
  return run / "branch" / fmt::format("{}.ckpt", epochs_done);
}

Checkpoint continued(Checkpoint beginning, const std::filesystem::path& source, const RunConfig& config,
                     const Fingerprint& print) {
  const auto expected = beginning_of(config);
  if (!expected) base::fail("{}: this run does not begin as another", source.string());
  refuse_other_config(source, beginning.config, config_map(expected->config));
  if (!beginning.log || beginning.epochs_done != expected->epochs) {
    base::fail("{}: the state after {} epochs is needed, this is one after {}", source.string(),
               expected->epochs, beginning.epochs_done);
  }
  refuse_other_fingerprint(source, beginning.log->fingerprint, print);
  beginning.config = config_map(config);
  beginning.log->config = beginning.config;
  beginning.log->strategy = config.strategy;
  beginning.log->fingerprint = print;
  return beginning;
}

}  // namespace longtail::train
