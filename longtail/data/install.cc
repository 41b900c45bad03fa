#include "longtail/data/install.h"

#include <algorithm>
#include <cctype>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/data/arrays.h"
#include "longtail/data/readers/reader.h"
#include "longtail/data/registry.h"
#include "longtail/data/unpack.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

// Finds the data in a folder or in one of its subfolders (archives made by hand often have one more level).
fs::path locate(const PublishedData& published, const fs::path& folder, const fs::path& source) {
  if (const auto found = find_data(published, folder)) return *found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (!entry.is_directory()) continue;
    if (const auto found = find_data(published, entry.path())) return *found;
  }
  fail("{}: there is no {} in it, in any of its published forms", source.string(), published.name);
}

// The target folder, under its published name; data found without their own folder get the usual one.
fs::path place_for(const PublishedData& published, const fs::path& found, const fs::path& folder) {
  const std::string name = found.filename().string();
  const auto& places = published.places;
  const bool usual = name != "." && std::find(places.begin(), places.end(), name) != places.end();
  if (usual) return folder / name;
  for (const auto& [place, files] : published_files(published)) {
    std::error_code ignored;
    if (fs::exists(found / files.front(), ignored)) return folder / place;
  }
  return folder / places.front();
}

// Names of the files that a folder of published data may hold, in any form; the first two come from archives.
std::vector<std::string> file_names(const PublishedData& published) {
  std::vector<std::string> names = {"readme.html", "file.txt~"};
  for (const auto& form : published_files(published)) {
    names.insert(names.end(), form.names.begin(), form.names.end());
  }
  return names;
}

// `target` would be replaced: refuses that unless it is missing or a folder that holds only such files.
void refuse_foreign(const fs::path& target, std::span<const std::string> names) {
  const auto refuse = [&](const std::string& what) {
    fail<base::UsageError>(
        "{} {}, so it is not replaced; choose another folder with --data DIR, or move it away",
        target.string(), what);
  };
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) refuse("is not a folder of data");
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(target, unreadable)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::find(names.begin(), names.end(), name) != names.end();
    if (!ours || entry.is_directory()) refuse(fmt::format("holds `{}`, which is not part of the data", name));
  }
  if (unreadable) refuse("cannot be looked into");
}

// Reports that the source for importing published data does not exist.
[[noreturn]] void refuse_source(const PublishedData& published, const std::string& source) {
  for (const Reader& reader : readers()) {
    if (!source.starts_with(std::string(reader.name) + ":")) continue;
    fail<base::UsageError>(
        "`{}` is the name of published data, which is imported from its archive or its folder, given as a "
        "plain path; for {} choose a name of your own",
        published.name, source);
  }
  fail("there is no {}", source);
}

// Class names are stored one per line.
void check_class_names(const Dataset& data) {
  for (const std::string& name : data.class_names) {
    if (!name.empty() && base::trim(name) == name && name.find('\n') == std::string::npos) continue;
    fail("the class `{}` cannot be kept: its name is blank, or begins or ends with a space; rename it", name);
  }
}

bool is_archive(const std::string& name) { return name.find(".tar") != std::string::npos; }

std::string address_of(const PublishedData& published, const RemoteFile& file, const std::string& url) {
  if (url.empty()) return published.address + file.name;
  if (url.ends_with('/')) return url + file.name;
  return published.remote.size() == 1 ? url : url + "/" + file.name;
}

}  // namespace

fs::path fetch_data(const PublishedData& published, const fs::path& folder, const std::string& url,
                    const DownloadOptions& options) {
  base::make_folder(folder);
  refuse_foreign(folder / published.places.front(), file_names(published));
  std::vector<fs::path> files;
  const auto discard = [&] {
    for (const fs::path& file : files) {
      std::error_code ignored;
      fs::remove(file, ignored);
    }
  };
  try {
    // Partial downloads are in the folder itself, where the next attempt finds them.
    Staging staging(folder, published.name);
    const fs::path inside = staging.path() / published.places.front();
    if (published.idx) base::make_folder(inside);
    for (const RemoteFile& file : published.remote) {
      const fs::path target = folder / fmt::format(".{}.{}", published.name, file.name);
      download(address_of(published, file, url), file, target, options);
      files.push_back(target);
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string& name = published.remote[i].name;
      is_archive(name) ? unpack(files[i], staging.path(), options.stop) : fs::rename(files[i], inside / name);
    }
    const fs::path found = locate(published, staging.path(), folder);
    load_published(published, found);
    fs::path target = place_for(published, found, folder);
    refuse_foreign(target, file_names(published));
    staging.publish(found, target);
    discard();
    return target;
  } catch (const base::Interrupted&) {
    throw;
  } catch (...) {
    discard();
    throw;
  }
}

fs::path import_published(const PublishedData& published, const fs::path& source, const fs::path& folder,
                          const Stop& stop) {
  std::error_code ignored;
  if (!fs::exists(source, ignored)) refuse_source(published, source.string());
  Staging staging(folder, published.name);
  fs::path found;
  if (fs::is_directory(source, ignored)) {
    const fs::path from = locate(published, source, source);
    found = staging.path() / place_for(published, from, "").filename();
    base::make_folder(found);
    for (const auto& [place, files] : published_files(published)) {
      for (const std::string& name : files) {
        if (fs::exists(from / name, ignored)) copy_file(from / name, found / name, stop);
      }
    }
  } else {
    unpack(source, staging.path(), stop);
    found = locate(published, staging.path(), source);
  }
  load_published(published, found);
  fs::path target = place_for(published, found, folder);
  refuse_foreign(target, file_names(published));
  staging.publish(found, target);
  return target;
}

fs::path own_place(std::string_view name, const fs::path& folder) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!plain) {
    fail<base::UsageError>("`{}` cannot be the name of a data set; use letters, digits, `-` and `_`", name);
  }
  fs::path target = folder / name;
  refuse_foreign(target, array_files());
  return target;
}

fs::path import_own(std::string_view name, const Dataset& data, const fs::path& folder, const Stop& stop) {
  fs::path target = own_place(name, folder);
  check_class_names(data);
  Staging staging(folder, name);
  write_arrays(data, staging.path(), stop);
  staging.publish(staging.path(), target);
  return target;
}

}  // namespace longtail::data
