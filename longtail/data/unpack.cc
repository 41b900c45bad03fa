#include "longtail/data/unpack.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::data {
namespace {

namespace fs = std::filesystem;
using base::fail;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;
// The published archives hold about ten files; a tiny archive can hold any number of empty ones.
constexpr int kMostEntries = 10000;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

Archive open_archive(const fs::path& path) {
  std::error_code ignored;  // opening a FIFO would wait for a writer
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    fail("cannot read {}: it is not a regular file", path.string());
  }
  Archive reader(archive_read_new(), archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), 1 << 16) != ARCHIVE_OK) {
    fail("{}: cannot be opened as an archive (tar or zip): {}", path.string(),
         archive_error_string(reader.get()));
  }
  return reader;
}

// The path of an entry below the target folder; an Error if it would leave that folder.
fs::path safe_path(const fs::path& archive_path, archive_entry* entry) {
  const char* name = archive_entry_pathname(entry);
  const fs::path path = name ? fs::path(name).lexically_normal() : fs::path();
  bool safe = !path.empty() && path.is_relative();
  for (const fs::path& part : path) safe = safe && part != "..";
  if (!safe) {
    fail(
        "{}: the archive holds the path `{}`, which would leave the folder; it is not what the authors "
        "publish",
        archive_path.string(), name ? name : "");
  }
  return path;
}

void write_entry(archive* reader, const fs::path& archive_path, const fs::path& target, std::uint64_t& total,
                 const Stop& stop) {
  OutFile out(target);
  std::vector<std::uint8_t> buffer(1 << 18);
  for (;;) {
    check_stop(stop);
    const la_ssize_t got = archive_read_data(reader, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0) {
      fail("{}: truncated or damaged: {}; get it again", archive_path.string(), archive_error_string(reader));
    }
    total += static_cast<std::uint64_t>(got);
    if (total > kMostBytes) fail("{}: unpacks to more than {} bytes", archive_path.string(), kMostBytes);
    out.write(std::span(buffer.data(), static_cast<std::size_t>(got)));
  }
  out.close();
}

}  // namespace

void unpack(const fs::path& archive_path, const fs::path& folder, const Stop& stop) {
  const Archive reader = open_archive(archive_path);
  std::uint64_t total = 0;
  for (int entries = 0;; ++entries) {
    check_stop(stop);
    if (entries > kMostEntries) {
      fail("{}: holds more than {} files; it is not what the authors publish", archive_path.string(),
           kMostEntries);
    }
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader.get(), &entry);
    if (code == ARCHIVE_EOF) break;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
      fail("{}: truncated or damaged: {}; get it again", archive_path.string(),
           archive_error_string(reader.get()));
    }
    const fs::path path = safe_path(archive_path, entry);
    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry)) {
      fail("{}: `{}` is a link; only plain files are unpacked", archive_path.string(), path.string());
    }
    if (archive_entry_filetype(entry) == AE_IFDIR) {
      base::make_folder(folder / path);
    } else if (archive_entry_filetype(entry) == AE_IFREG) {
      base::make_folder((folder / path).parent_path());
      write_entry(reader.get(), archive_path, folder / path, total, stop);
    } else {
      fail("{}: `{}` is not a plain file; only plain files are unpacked", archive_path.string(),
           path.string());
    }
  }
}

}  // namespace longtail::data
