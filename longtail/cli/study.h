// The subcommands of `longtail study`, one file each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "longtail/cli/app.h"
#include "longtail/study/study_file.h"

namespace longtail::cli {

void add_study_run(App& app);
void add_study_work(App& app);
void add_study_status(App& app);
void add_study_watch(App& app);
void add_study_collect(App& app);
void add_study_check(App& app);
void add_study_submit(App& app);
void add_study_cancel(App& app);

// A study file and the changes to it given on the command line.
struct StudyFlags {
  std::string file;
  std::string data;
  std::vector<std::string> changes;  // --set

  study::StudyFile read() const;
};
void add_study_flags(App& app, StudyFlags& flags, bool file_required);

// The path of this executable.
std::string own_program();

}  // namespace longtail::cli
