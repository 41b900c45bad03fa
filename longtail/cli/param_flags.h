// Generates flags from a parameter table: every parameter becomes an option with its help, range and default,
// so nothing is written twice.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "longtail/base/params.h"
#include "longtail/cli/app.h"

namespace longtail::cli {

// Adds a flag for each parameter of the table (only those in `only`, if given). A bad value is a usage error
// (exit 2). `config` must outlive the parsing.
template <class Config>
void add_param_flags(App& app, const base::ParamTable<Config>& table, Config& config,
                     const std::vector<std::string>& only = {}) {
  for (const auto& entry : table.entries()) {
    const base::ParamInfo& info = entry.info;
    if (!only.empty() && std::find(only.begin(), only.end(), info.name) == only.end()) continue;
    std::string help = info.help;
    if (!info.range.empty()) help += " {" + info.range + "}";
    if (!info.initial.empty()) help += " [" + info.initial + "]";
    const auto set = [&table, &config, name = info.name](const std::string& text) {
      table.set(config, name, text);
    };
    Option* option = nullptr;
    if (info.type == "switch") {
      const std::string flag = info.flag();
      option = app.add_flag_function(
          flag + ",!--no-" + flag.substr(2), [set](std::int64_t on) { set(on > 0 ? "true" : "false"); },
          help);
    } else {
      option = app.add_option_function(info.flag(), set, help)->type_name(info.type);
      // An empty list of milestones is valid, and an empty data folder means the usual places.
      if (info.type == "integers" || info.name == "data") option->may_be_empty();
    }
    option->group(info.section.empty() ? "Options" : "Parameters: " + info.section);
  }
}

}  // namespace longtail::cli
