// The report's page: one HTML file with everything inside (data, chart library, style), made from page/*.
#pragma once

#include <string>

namespace longtail::report {

struct Report;
std::string page(const Report& report);

// The page over a running study (live.h), which asks its server for updates.
struct Live {
  int version = 0;         // counts changes
  std::string progress{};  // HTML: how far each run is
};
std::string live_page(const Report& report, const Live& live);
// JSON: the data of the page and, as HTML by the ids of their elements, its parts that change.
std::string live_state(const Report& report, const Live& live);

}  // namespace longtail::report
