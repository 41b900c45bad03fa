// The page over a study that is still running: checked repeatedly, and rebuilt when a run has finished an
// epoch. Numbers, tables and findings cover finished runs only; a run under way only shows its curves. The
// folder of a race (race.h) says what its looks have decided so far.
#pragma once

#include <filesystem>
#include <string>

namespace longtail::report {

class LiveStudy {
 public:
  // An Error if the folder is not that of a study.
  explicit LiveStudy(std::filesystem::path folder);

  // Looks at the folder; returns whether something has changed. Reads no log.
  bool look();
  int version() const { return version_; }
  // "3 of 12 runs done, 2 running".
  std::string words() const;

  // The page; and as JSON, for a page that is already open, its data and the parts that change. Built on
  // request, at most once per version.
  const std::string& page();
  const std::string& state();

 private:
  void make();

  std::filesystem::path folder_;
  std::string seen_;
  int version_ = 0;
  int made_ = -1;
  std::string page_, state_;
};

}  // namespace longtail::report
