#include "longtail/nn/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/nn/amx/amx_engine.h"
#include "longtail/nn/engine_names.h"
#include "longtail/nn/reference_backend.h"
#include "longtail/nn/resnet_engine.h"
#include "longtail/nn/simd/simd_backend.h"

namespace longtail::nn {
namespace {

bool everywhere(std::string*) { return true; }
bool every_network(const ResNetSpec&, std::string*) { return true; }
bool small_networks(const ResNetSpec& spec, std::string* why) {
  if (spec.side == 32 && spec.width == 1) return true;
  *why = fmt::format("it does 32x32 images at width 1, and this network takes {0}x{0} at width {1}",
                     spec.side, spec.width);
  return false;
}

// An engine made of the walk and a backend.
template <auto make_backend>
std::unique_ptr<Engine> make_walk(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool) {
  return make_resnet_engine(spec, max_batch, pool, make_backend(spec, max_batch, pool.threads()));
}

// A line of the table, with what engine_names.h says about it.
EngineInfo entry(std::string_view name, decltype(EngineInfo::available) available,
                 decltype(EngineInfo::does) does, decltype(EngineInfo::make) make) {
  for (const EngineName& known : kEngineNames) {
    if (known.name != name) continue;
#ifdef LONGTAIL_SOFTWARE_TILES
    const bool automatic = known.automatic && available != amx_available;  // tiles in software are for tests
#else
    const bool automatic = known.automatic;
#endif
    return {std::string(name), std::string(known.about), automatic, available, does, make};
  }
  base::fail("the engine {} is not in engine_names.h", name);
}

const EngineInfo& find(std::string_view kind) {
  for (const EngineInfo& engine : engines()) {
    if (engine.name == kind) return engine;
  }
  const std::vector<std::string> choices = engine_choices();
  base::fail<base::UsageError>("unknown engine `{}`{}; there are {}", kind, base::did_you_mean(kind, choices),
                               base::join(choices, ", "));
}

}  // namespace

const std::vector<EngineInfo>& engines() {
  static const std::vector<EngineInfo> table = {
      entry("amx", amx_available, small_networks, make_walk<make_amx_backend>),
      entry("amx-fine", amx_available, small_networks, make_walk<make_amx_fine_backend>),
      entry("simd", everywhere, every_network, make_walk<make_simd_backend>),
      entry("reference", everywhere, every_network, make_walk<make_reference_backend>),
  };
  return table;
}

std::vector<std::string> engine_choices() {
  std::vector<std::string> names = {"auto"};
  for (const EngineInfo& engine : engines()) names.push_back(engine.name);
  return names;
}

std::vector<std::string> engines_for(const ResNetSpec& spec) {
  std::vector<std::string> names;
  std::string why;
  for (const EngineInfo& engine : engines()) {
    if (engine.does(spec, &why) && engine.available(&why)) names.push_back(engine.name);
  }
  return names;
}

std::string resolve_engine(std::string_view kind, const ResNetSpec& spec) {
  std::string why;
  if (kind == "auto") {
    for (const EngineInfo& engine : engines()) {
      if (engine.automatic && engine.does(spec, &why) && engine.available(&why)) return engine.name;
    }
    base::fail("no engine can do this network here");
  }
  const EngineInfo& engine = find(kind);
  if (!engine.available(&why)) {
    base::fail("the {} engine cannot run here: {}; use --engine {}, or auto for the fastest there is", kind,
               why, base::join(engines_for(spec), " or "));
  }
  if (!engine.does(spec, &why)) {
    base::fail("the {} engine cannot do this network: {}; use --engine {}, or auto for the fastest there is",
               kind, why, base::join(engines_for(spec), " or "));
  }
  return engine.name;
}

std::unique_ptr<Engine> make_engine(std::string_view kind, const ResNetSpec& spec, int max_batch,
                                    base::ThreadPool& pool) {
  if (max_batch < 1) base::fail("an engine for batches of {} images; at least 1 is needed", max_batch);
  return find(resolve_engine(kind, spec)).make(spec, max_batch, pool);
}

}  // namespace longtail::nn
