// The report's page: one HTML file with everything inside (data, chart library, style), made from page/*.
#pragma once

#include <string>

namespace longtail::report {

struct Report;
std::string page(const Report& report);

}  // namespace longtail::report
