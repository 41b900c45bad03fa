#include "longtail/study/engine_choice.h"

#include <algorithm>

#include "longtail/base/error.h"
#include "longtail/nn/registry.h"
#include "longtail/train/checkpoint.h"

namespace longtail::study {
namespace {

// The numbers of classes and channels depend on the data, and no engine cares about them.
nn::ResNetSpec network_of_run(const PlannedRun& run) { return train::network_of(run.config, 1, 3); }

// The engines that `auto` may take for a network here, the best first.
std::vector<std::string> automatic_engines(const nn::ResNetSpec& network) {
  std::vector<std::string> names;
  std::string why;
  for (const nn::EngineInfo& engine : nn::engines()) {
    if (engine.automatic && engine.does(network, &why) && engine.available(&why))
      names.push_back(engine.name);
  }
  return names;
}

// Null for an engine name of an earlier version.
const nn::EngineInfo* known_engine(std::string_view name) {
  const auto& all = nn::engines();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const nn::EngineInfo& engine) { return engine.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string first_in_all(std::span<const std::vector<std::string>> lists) {
  if (lists.empty()) return "";
  for (const std::string& name : lists.front()) {
    const bool everywhere = std::all_of(lists.begin(), lists.end(), [&](const auto& list) {
      return std::find(list.begin(), list.end(), name) != list.end();
    });
    if (everywhere) return name;
  }
  return "";
}

std::string engine_for(std::span<const PlannedRun> runs) {
  std::vector<nn::ResNetSpec> networks;
  std::vector<std::vector<std::string>> able;
  for (const PlannedRun& run : runs) {
    const nn::ResNetSpec network = network_of_run(run);
    if (std::find(networks.begin(), networks.end(), network) != networks.end()) continue;
    networks.push_back(network);
    able.push_back(automatic_engines(network));
  }
  std::string name = first_in_all(able);
  if (name.empty()) base::fail("no engine can do the networks of all runs of the study here");
  return name;
}

void require_networks(std::string_view name, std::span<const PlannedRun> runs) {
  const nn::EngineInfo* engine = known_engine(name);
  if (!engine) return;
  for (const PlannedRun& run : runs) {
    std::string why;
    if (engine->does(network_of_run(run), &why)) continue;
    base::fail<base::UsageError>(
        "the study runs on the engine {}, which cannot do the network of the run {}, on any machine: {}. "
        "Start another study with another --out and `engine` auto or simd",
        name, run.name, why);
  }
}

void require_machine(std::string_view name) {
  const nn::EngineInfo* engine = known_engine(name);
  std::string why = "this version of longtail does not have it";
  if (engine && engine->available(&why)) return;
  base::fail(
      "the study runs on the engine {}, which this machine cannot run: {}. Work on it on a machine that can, "
      "or start another study with another --out",
      name, why);
}

}  // namespace longtail::study
