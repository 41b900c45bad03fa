// Chooses the engine of a study: one for all its runs, whatever networks they have.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/study/grid.h"

namespace longtail::study {

// The first name that is in all lists, which must have the same order. Empty: there is none.
std::string first_in_all(std::span<const std::vector<std::string>> lists);

// What `auto` means for these runs on this machine: the first engine that `auto` may choose and that supports
// the networks of all runs.
std::string engine_for(std::span<const PlannedRun> runs);

// A UsageError that names the first run whose network the engine does not support on any machine.
void require_networks(std::string_view engine, std::span<const PlannedRun> runs);

// An Error that says what to do if this machine cannot run the engine.
void require_machine(std::string_view engine);

}  // namespace longtail::study
