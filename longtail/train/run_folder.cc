#include "longtail/train/run_folder.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"

namespace longtail::train {

namespace fs = std::filesystem;

namespace {

bool is_file_of_run(std::string_view name) {
  return name == "log.json" || name == "log.predictions" || name == "timings.json" || name == "state.ckpt";
}

// N.ckpt, in kept/ and branch/.
bool is_numbered(std::string_view name) {
  constexpr std::string_view kEnding = ".ckpt";
  return name.ends_with(kEnding) && base::parse_integer(name.substr(0, name.size() - kEnding.size()));
}

}  // namespace

void remove_temporaries(const fs::path& folder) {
  base::remove_temporaries(folder, is_file_of_run);
  for (const char* part : {"kept", "branch"}) base::remove_temporaries(folder / part, is_numbered);
}

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) made_ = folder;
  base::make_folder(folder);
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) {
    base::fail<base::StorageError>("cannot open the folder {}: {}", folder.string(), std::strerror(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const bool taken = errno == EWOULDBLOCK;
    const std::string reason = std::strerror(errno);
    ::close(descriptor_);
    if (taken) {
      base::fail<base::StorageError>(
          "another process is training in {}; wait for it to end or use another folder", folder.string());
    }
    base::fail<base::StorageError>("cannot lock the folder {}: {}", folder.string(), reason);
  }
  remove_temporaries(folder);
}

FolderLock::~FolderLock() {
  std::error_code ignored;
  if (!made_.empty()) fs::remove(made_, ignored);  // leaves a folder that is not empty
  ::close(descriptor_);
}

void mend_log(const fs::path& folder, const RunLog& log) {
  const fs::path path = log_path(folder);
  if (!fs::exists(path) || base::read_text(path) != log_text(log)) write_log(path, log);
}

bool is_run(const Checkpoint& held, const RunConfig& config) {
  const std::map<std::string, std::string> map = config_map(config);
  // A file that no longer exists cannot have changed its content.
  const bool of_file = std::any_of(map.begin(), map.end(), [](const auto& entry) {
    return names_file(entry.first, entry.second) && base::present(entry.second);
  });
  if (!of_file && held.config == map) return true;
  return held.log && held.log->fingerprint.protocol == config_hash(config);
}

namespace {

bool same_value(const std::string& key, const std::string& a, const std::string& b) {
  if (a == b) return true;
  std::error_code error;
  const auto readable = [&](const std::string& value) {
    return names_file(key, value) && fs::is_regular_file(value, error);
  };
  return readable(a) && readable(b) && base::read_text(a) == base::read_text(b);
}

// A damaged log may be one of the same run: it may be written again.
void refuse_other_log(const fs::path& folder, const RunConfig& wanted) {
  const fs::path path = log_path(folder);
  if (!base::present(path)) return;
  RunLog held;
  try {
    held = read_log(path);
  } catch (const base::DamagedFile&) {
    return;
  }
  if (held.fingerprint.protocol == config_hash(wanted)) return;
  refuse_other_config(folder, held.config, logged_config(config_map(wanted)));
  base::fail("{} is the log of another run; use another folder", path.string());
}

}  // namespace

void refuse_other_config(const fs::path& folder, const std::map<std::string, std::string>& held,
                         const std::map<std::string, std::string>& wanted) {
  const auto value = [](const std::map<std::string, std::string>& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::string() : found->second;
  };
  const auto said = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
  std::map<std::string, std::string> all = held;
  all.insert(wanted.begin(), wanted.end());
  for (const auto& [key, ignored] : all) {
    if (same_value(key, value(held, key), value(wanted, key))) continue;
    base::fail(
        "{} holds a run with `{}` = `{}`, but here it is `{}`; use another folder or the same parameters",
        folder.string(), key, said(value(held, key)), said(value(wanted, key)));
  }
}

void refuse_other_run(const fs::path& folder, const Checkpoint& held, const RunConfig& wanted) {
  if (is_run(held, wanted)) return;
  const std::map<std::string, std::string> map = config_map(wanted);
  refuse_other_config(folder, held.config, map);
  for (const auto& [key, value] : map) {
    if (!names_file(key, value)) continue;
    base::fail(
        "{} holds a run with another content of `{}` = `{}` than it has now; use another folder, or bring "
        "the old content back",
        folder.string(), key, value);
  }
}

std::optional<Checkpoint> held_state(const fs::path& folder, const RunConfig& wanted) {
  if (!base::present(state_path(folder))) {
    refuse_other_log(folder, wanted);
    return std::nullopt;
  }
  Checkpoint held = read_state(folder);
  refuse_other_run(folder, held, wanted);
  return held;
}

void refuse_other_fingerprint(const fs::path& folder, const Fingerprint& held, const Fingerprint& wanted) {
  const auto compare = [&](const std::string& before, const std::string& now, const char* what) {
    if (before == now) return;
    base::fail(
        "the run in {} was begun with {} (SHA-256 {:.12}..., now {:.12}...); use another folder to start "
        "again",
        folder.string(), what, before, now);
  };
  compare(held.data, wanted.data, "another content of the data set");
  compare(held.subset, wanted.subset, "another subset of the images");
  compare(held.init, wanted.init, "other initial weights");
  compare(held.augment, wanted.augment, "another augmentation");
}

void refuse_other_groups(const fs::path& folder, const RunLog& held, const RunLog& wanted) {
  if (held.group_sizes == wanted.group_sizes) return;
  base::fail(
      "the run in {} was begun with {} head, medium and tail classes, now `groups` = `{}` gives {}; use "
      "another folder to start again",
      folder.string(), fmt::join(held.group_sizes, ", "), wanted.groups, fmt::join(wanted.group_sizes, ", "));
}

}  // namespace longtail::train
