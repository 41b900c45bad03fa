#include "longtail/report/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/text.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;

// A .tar.gz written into a string: no times, no owners, so that the same files give the same bytes.
class Packer {
 public:
  Packer()
      : archive_(::archive_write_new(), &::archive_write_free),
        entry_(::archive_entry_new(), &::archive_entry_free) {
    ::archive_write_set_format_pax_restricted(archive_.get());
    ::archive_write_add_filter_gzip(archive_.get());
    ::archive_write_set_options(archive_.get(), "gzip:!timestamp,gzip:compression-level=9");
    check(::archive_write_open(archive_.get(), &out_, nullptr, &append, nullptr));
  }

  void add(const std::string& name, const std::string& bytes) {
    ::archive_entry* entry = ::archive_entry_clear(entry_.get());
    ::archive_entry_set_pathname_utf8(entry, name.c_str());
    ::archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    ::archive_entry_set_filetype(entry, AE_IFREG);
    ::archive_entry_set_perm(entry, 0644);
    check(::archive_write_header(archive_.get(), entry));
    if (::archive_write_data(archive_.get(), bytes.data(), bytes.size()) < 0) check(ARCHIVE_FATAL);
  }

  std::string finish() {
    check(::archive_write_close(archive_.get()));
    return std::move(out_);
  }

 private:
  static la_ssize_t append(::archive*, void* out, const void* bytes, std::size_t size) {
    static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
    return static_cast<la_ssize_t>(size);
  }
  void check(int code) {
    if (code < ARCHIVE_WARN) base::fail("cannot pack the logs: {}", ::archive_error_string(archive_.get()));
  }

  std::string out_;
  std::unique_ptr<::archive, decltype(&::archive_write_free)> archive_;
  std::unique_ptr<::archive_entry, decltype(&::archive_entry_free)> entry_;
};

// NAME.json for runs/NAME/log.json, and a number where two inputs have the same name.
std::string name_of(const fs::path& source, std::set<std::string>& taken) {
  std::string stem =
      source.filename() == "log.json" ? source.parent_path().filename().string() : source.stem().string();
  stem = base::to_utf8(stem.empty() ? "log" : stem);
  std::string name = stem + ".json";
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}.json", stem, i);
  return name;
}

// The text of the run's log, if it is still the log that was read.
std::optional<std::string> text_of(const RunResult& run) {
  try {
    std::string text = base::read_text(run.source);
    if (train::log_text(train::log_of(text, run.source)) == train::log_text(*run.log)) return text;
  } catch (const base::Error&) {
  }
  return std::nullopt;
}

}  // namespace

Archive pack_logs(const Results& results, std::uint64_t limit) {
  Archive archive;
  Packer packer;
  std::set<std::string> taken;
  int missing = 0;
  for (const RunResult& run : results.runs) {
    if (!run.log) continue;
    const std::optional<std::string> text = text_of(run);
    if (!text) {
      ++missing;
      continue;
    }
    packer.add(name_of(run.source, taken), *text);
    ++archive.logs;
    archive.bytes += text->size();
  }
  if (missing > 0) {
    archive.remark = fmt::format("{} log{} changed while the report was made and {} left out.", missing,
                                 missing == 1 ? " was" : "s were", missing == 1 ? "is" : "are");
  }
  if (archive.logs == 0) return archive;
  archive.packed = packer.finish();
  if (archive.packed.size() > limit) {
    archive.remark =
        fmt::format("The {} logs are not in this page: packed they have {}, and a page takes at most {}.",
                    archive.logs, bytes_words(archive.packed.size()), bytes_words(limit));
    archive.packed.clear();
  }
  return archive;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < here ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= here ? kLetters[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string bytes_words(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1000000) return fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace longtail::report
