#include "longtail/report/out_folder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "files.txt";
constexpr std::string_view kSignature = "# written by longtail report";

// Whether a report could have written a file of this name. No other file is removed, whatever a manifest
// lists.
bool named_as_of_a_report(const std::string& name) {
  constexpr std::array<std::string_view, 5> kAtTheTop = {"summary.md", "index.html", "results.csv",
                                                         "curves.csv", "classes.csv"};
  const bool below = name.starts_with("tables/") || name.starts_with("figures/");
  return (below && name.find("..") == std::string::npos) ||
         std::find(kAtTheTop.begin(), kAtTheTop.end(), name) != kAtTheTop.end();
}

// What earlier reports wrote into the folder; none if no report did. Earlier versions did not sign their
// lists; these are recognised by the two files that every report has.
std::optional<FileNames> written_before(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(folder / kManifest, ignored)) return std::nullopt;
  const std::vector<std::string> lines = base::split(base::read_text(folder / kManifest), '\n');
  FileNames names;
  std::copy_if(lines.begin(), lines.end(), std::inserter(names, names.end()), named_as_of_a_report);
  const bool is_signed = !lines.empty() && lines[0] == kSignature;
  if (!is_signed && !(names.contains("summary.md") && names.contains("results.csv"))) return std::nullopt;
  return names;
}

void write_manifest(const fs::path& folder, const FileNames& names) {
  std::string text = std::string(kSignature) + "\n";
  for (const std::string& name : names) text += name + "\n";
  base::write_atomically(folder / kManifest, text);
}

bool is_an_input(const fs::path& file, std::span<const fs::path> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const fs::path& input) {
    std::error_code ignored;
    return fs::equivalent(input, file, ignored);
  });
}

}  // namespace

void claim_folder(const fs::path& folder, const FileNames& files, std::span<const fs::path> inputs) {
  const std::optional<FileNames> before = written_before(folder);
  FileNames names = files;
  names.insert(kManifest);
  for (const std::string& name : names) {
    const fs::path file = folder / name;
    if (!base::present(file)) continue;
    if (is_an_input(file, inputs))
      base::fail<base::UsageError>(
          "{} is what the report is made from, and the report would overwrite it; give another folder "
          "(--out)",
          file.string());
    if (!before)
      base::fail<base::UsageError>(
          "{} is there already and would be overwritten, but {} is not the folder of a report (its list {} "
          "would be signed); give another folder (--out), or move what is there away",
          file.string(), folder.string(), kManifest);
  }
  names.erase(kManifest);
  if (before) names.insert(before->begin(), before->end());
  write_manifest(folder, names);
}

void clear_stale(const fs::path& folder, const FileNames& files) {
  for (const std::string& name : written_before(folder).value_or(FileNames{})) {
    std::error_code ignored;
    if (!files.contains(name) && !fs::is_directory(folder / name, ignored))
      fs::remove(folder / name, ignored);
  }
  write_manifest(folder, files);
}

}  // namespace longtail::report
