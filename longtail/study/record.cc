#include "longtail/study/record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/quote.h"
#include "longtail/train/run_log.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kLargestRecord = std::uint64_t{1} << 30;

// Returns what `read` takes from one of our JSON files. Any fault is an Error that names the file: unreadable
// is not the same as missing.
template <class Read>
auto read_record(const fs::path& path, Read read) {
  try {
    return read(json::parse(base::read_text(path, kLargestRecord)));
  } catch (const json::parse_error& error) {
    base::fail<base::DamagedFile>("{} is damaged at byte {}", path.string(), error.byte);
  } catch (const json::exception&) {
    base::fail<base::DamagedFile>("{} is damaged: it does not hold what it should", path.string());
  }
}

}  // namespace

fs::path run_folder(const fs::path& folder, const std::string& name) { return folder / "runs" / name; }

void require_run_name(const std::string& name) {
  base::require_plain("the name of a run", name);
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos) {
    base::fail<base::DamagedFile>("`{}` is no name of a run", name);
  }
}

RecordedWords recorded_words(const fs::path& folder) {
  return read_record(folder / "study.json", [](const json& object) {
    RecordedWords words{object.at("name").get<std::string>(), object.at("about").get<std::string>()};
    base::require_plain("the name of a study", words.name);
    base::require_plain("`about` of a study", words.about);
    return words;
  });
}

std::vector<std::string> recorded_runs(const fs::path& folder) {
  return read_record(folder / "study.json", [](const json& object) {
    std::vector<std::string> names;
    for (const json& run : object.at("runs")) {
      names.push_back(run.at("name").get<std::string>());
      require_run_name(names.back());
    }
    return names;
  });
}

std::vector<std::string> strangers(const fs::path& folder, std::span<const std::string> runs) {
  const std::set<std::string> known(runs.begin(), runs.end());
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "runs", error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(error) && !known.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> damage(const fs::path& folder) {
  if (!base::present(folder / "done.json")) return std::nullopt;
  try {
    const auto expected = read_record(
        folder / "done.json", [](const json& object) { return object.at("log_sha256").get<std::string>(); });
    if (!base::present(folder / "log.json")) return "log.json is missing";
    if (base::sha256(base::read_text(folder / "log.json")) != expected) {
      return "log.json is not what the run wrote (its checksum differs)";
    }
    train::read_log(folder / "log.json");
    return std::nullopt;
  } catch (const base::DamagedFile& error) {  // an unreadable file is not known to be damaged
    return error.what();
  }
}

}  // namespace longtail::study
