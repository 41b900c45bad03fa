// The results of the theory as JSON: everything that the tables and figures show, every class and every
// epoch. Numbers that do not exist (NaN) are null.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "longtail/theory/exposure.h"
#include "longtail/theory/forecast.h"
#include "longtail/theory/probe.h"

namespace longtail::theory {

nlohmann::json to_json(const Decomposition& decomposition);
nlohmann::json to_json(const Forecast& forecast);
nlohmann::json to_json(const SummaryRow& row);
nlohmann::json to_json(const Exposure& exposure);
nlohmann::json to_json(const ProbeResult& result);

}  // namespace longtail::theory
