// The output of `longtail probe`: the measured gradients as text, JSON and figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/theory/probe.h"

namespace longtail::cli {

// Everything that `longtail probe` measures: one result per requested epoch.
struct ProbeReport {
  std::string title;  // the run, or the settings of the fresh network
  std::string engine;
  std::string groups;                 // how the classes are grouped
  std::vector<data::Group> group_of;  // of each class
  int batch = 128;
  std::vector<theory::ProbeResult> results;
};

std::string probe_text(const ProbeReport& report);
std::string probe_json(const ProbeReport& report);
std::vector<std::filesystem::path> draw_probe(const ProbeReport& report, const std::filesystem::path& folder,
                                              const std::string& ending);

}  // namespace longtail::cli
