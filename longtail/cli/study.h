// The subcommands of `longtail study`, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "longtail/study/study_file.h"

namespace longtail::cli {

void add_study_run(CLI::App& app);
void add_study_work(CLI::App& app);
void add_study_status(CLI::App& app);
void add_study_collect(CLI::App& app);
void add_study_check(CLI::App& app);
void add_study_submit(CLI::App& app);
void add_study_cancel(CLI::App& app);

// A study file and what is changed in it on the command line.
struct StudyFlags {
  std::string file;
  std::string data;
  std::vector<std::string> changes;  // --set

  study::StudyFile read() const;
};
void add_study_flags(CLI::App& app, StudyFlags& flags, bool file_required);

// The path of this executable.
std::string own_program();

}  // namespace longtail::cli
