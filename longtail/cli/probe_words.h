// The measured side of the theory in words and figures: what `longtail probe` prints and draws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/theory/probe.h"

namespace longtail::cli {

// Everything that `longtail probe` measures: one result for each epoch asked for.
struct ProbeReport {
  std::string title;  // the run, or what the fresh network is made from
  std::string engine;
  std::string groups;                 // how the classes are grouped
  std::vector<data::Group> group_of;  // each class
  int batch = 128;
  std::vector<theory::ProbeResult> results;
};

std::string probe_text(const ProbeReport& report);
std::string probe_json(const ProbeReport& report);
std::vector<std::filesystem::path> draw_probe(const ProbeReport& report, const std::filesystem::path& folder,
                                              const std::string& ending);

}  // namespace longtail::cli
