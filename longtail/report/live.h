// The page over a study that is still running: looked at again and again, made anew when an epoch has been
// finished somewhere. Numbers, tables and findings are of finished runs alone; a run under way shows its
// curves. The folder of a race (race.h) says what its looks have decided so far.
#pragma once

#include <filesystem>
#include <string>

namespace longtail::report {

class LiveStudy {
 public:
  // An Error if the folder is not that of a study.
  explicit LiveStudy(std::filesystem::path folder);

  // Looks at the folder; whether something has changed. Reads no log.
  bool look();
  int version() const { return version_; }
  // "3 of 12 runs done, 2 running".
  std::string words() const;

  // The page, and for a page that is open the same as JSON: its data and the parts that change. Made when
  // asked for, at most once a version.
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
