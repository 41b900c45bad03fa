// All engines in one table, for all code that lists, checks, explains or makes an engine.
//
// To add one: write a backend (backend.h), add its name to engine_names.h and its line to the table in
// registry.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "longtail/nn/engine.h"

namespace longtail::nn {

struct EngineInfo {
  std::string name;
  std::string about;       // one sentence
  bool automatic = false;  // `auto` may take it: the first in the table that supports the network here
  // Whether this build and CPU can run it; if not, why.
  bool (*available)(std::string* why) = nullptr;
  // Whether it supports the network; if not, why.
  bool (*does)(const ResNetSpec& spec, std::string* why) = nullptr;
  std::unique_ptr<Engine> (*make)(const ResNetSpec& spec, int max_batch, base::ThreadPool& pool) = nullptr;
};

const std::vector<EngineInfo>& engines();

// "auto" and the names of all engines: what `--engine` takes.
std::vector<std::string> engine_choices();

// The names of the engines that support the network on this machine, in the order of the table.
std::vector<std::string> engines_for(const ResNetSpec& spec);

}  // namespace longtail::nn
