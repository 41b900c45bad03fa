// The output of `longtail theory`: the forecast as text, JSON and figures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "longtail/data/groups.h"
#include "longtail/report/predictions.h"
#include "longtail/theory/exposure.h"
#include "longtail/theory/forecast.h"

namespace longtail::cli {

// Everything that `longtail theory` computes.
struct TheoryReport {
  std::string title;  // "cifar100, profile exp, rho 100"
  std::vector<std::int64_t> counts;
  data::Groups groups;
  int epochs = 200;
  theory::Assumptions assumptions;
  std::vector<theory::Forecast> shown;                 // the epochs that the tables show
  std::vector<std::vector<theory::Forecast>> courses;  // for each strategy, every epoch
  std::vector<theory::SummaryRow> summary;
  std::vector<theory::Exposure> exposures;
  std::vector<report::Prediction> predictions;  // empty: no logs were given
};

std::string theory_text(const TheoryReport& report);
std::string theory_json(const TheoryReport& report);
// Writes the figures into a folder; returns their paths. `ending`: pdf, svg or png.
std::vector<std::filesystem::path> draw_theory(const TheoryReport& report,
                                               const std::filesystem::path& folder,
                                               const std::string& ending);

// "1. ... : holds", with the result of each comparison below it.
std::string predictions_text(std::span<const report::Prediction> predictions);

}  // namespace longtail::cli
