#include "longtail/report/notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/study/record.h"

namespace longtail::report {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kLongestNotes = std::uint64_t{1} << 20;

// The blocks of a text, one after the other: at most one of paragraph, list and code is open at a time.
class Blocks {
 public:
  void line(std::string_view text) {
    const std::string_view words = base::trim(text);
    if (words.starts_with("```")) {
      const bool code = open_ == "pre";
      close();
      if (!code) open("pre", "<pre>");
    } else if (open_ == "pre") {
      out_ += base::quote::html(text) + "\n";
    } else if (words.empty()) {
      close();
    } else if (words.starts_with('#')) {
      close();
      out_ +=
          "<h3>" +
          base::quote::html(base::trim(words.substr(std::min(words.size(), words.find_first_not_of('#'))))) +
          "</h3>\n";
    } else if (words.starts_with("- ") || words.starts_with("* ")) {
      open("ul", "<ul class=\"plain\">");
      out_ += "<li>" + base::quote::html(words.substr(2)) + "</li>\n";
    } else {
      open("p", "<p>");
      out_ += base::quote::html(words) + "\n";
    }
  }
  std::string html() {
    close();
    return std::move(out_);
  }

 private:
  void open(const std::string& what, const char* tag) {
    if (open_ == what) return;
    close();
    out_ += tag;
    open_ = what;
  }
  void close() {
    if (!open_.empty()) out_ += "</" + open_ + ">\n";
    open_.clear();
  }

  std::string out_, open_;
};

}  // namespace

std::vector<StudyNotes> read_notes(std::span<const fs::path> paths, std::vector<std::string>& warnings) {
  std::vector<StudyNotes> all;
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path / "runs", ignored)) continue;
    StudyNotes one;
    try {
      if (fs::exists(path / "study.json", ignored)) {
        const study::RecordedWords words = study::recorded_words(path);
        one.name = words.name;
        one.about = words.about;
      }
      if (fs::exists(path / "notes.md", ignored)) {
        one.notes = base::to_utf8(base::read_text(path / "notes.md", kLongestNotes));
      }
    } catch (const base::Error& error) {
      warnings.push_back(fmt::format("{}; what it says about the study is left out.", error.what()));
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string notes_html(const std::string& markdown) {
  Blocks blocks;
  for (const std::string& line : base::split(markdown, '\n')) {
    blocks.line(line.ends_with('\r') ? std::string_view(line).substr(0, line.size() - 1) : line);
  }
  return blocks.html();
}

}  // namespace longtail::report
