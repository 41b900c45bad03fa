#include "longtail/base/gnuplot.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

#include "longtail/base/confine.h"
#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"

namespace longtail::base {
namespace {

namespace fs = std::filesystem;

// A temporary folder, removed by the destructor.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    fs::path place = fs::temp_directory_path(error);
    if (error) place = "/tmp";  // TMPDIR is not a folder
    std::string name = (place / "longtail-figure-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      fail("cannot make a folder like {}: {}; name another place with TMPDIR", name, std::strerror(errno));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Starts gnuplot without a shell and confined (confine.h); its standard output is the picture. Neither the
// user's settings nor the environment variables that gnuplot would obey reach it, so that the same figure
// always has the same bytes.
ConfinedResult run_gnuplot(const std::vector<std::string>& arguments, const fs::path& output,
                           const fs::path& messages) {
  ConfinedOptions options;
  options.output = output.string();
  options.messages = messages.string();
  options.environment = {"SOURCE_DATE_EPOCH=0", "LC_ALL=C.UTF-8", "GNUTERM=dumb"};
  for (const char* name :
       {"PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "FONTCONFIG_FILE", "FONTCONFIG_PATH"}) {
    const char* value = std::getenv(name);
    if (value) options.environment.push_back(fmt::format("{}={}", name, value));
  }
  return run_confined("gnuplot", arguments, options);
}

std::string terminal_for(const fs::path& path, double width_cm, double height_cm) {
  const std::string ending = path.extension().string();
  if (ending == ".pdf") {
    return fmt::format("pdfcairo size {}cm,{}cm font 'Sans,9' linewidth 1.2", width_cm, height_cm);
  }
  const int width = static_cast<int>(width_cm * 60);
  const int height = static_cast<int>(height_cm * 60);
  if (ending == ".svg")
    return fmt::format("svg size {},{} font 'Sans,19' linewidth 2 dynamic background '#ffffff'", width,
                       height);
  // Twice the pixels of the SVG, 305 per inch: text, lines and points are as large on paper as in the PDF.
  if (ending == ".png") {
    return fmt::format("pngcairo size {},{} font 'Sans,28.5' linewidth 2.8 pointscale 2.8", 2 * width,
                       2 * height);
  }
  fail("{}: a figure ends in .pdf, .svg or .png", path.string());
}

// Replaces the date in a PDF by a fixed one of the same length, so that the same figure is the same file.
void forget_date(std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDate = "/CreationDate (D:", kFixed = "20000101000000";
  const auto at = std::search(bytes.begin(), bytes.end(), kDate.begin(), kDate.end());
  if (static_cast<std::size_t>(bytes.end() - at) < kDate.size() + kFixed.size()) return;
  std::copy(kFixed.begin(), kFixed.end(), at + static_cast<std::ptrdiff_t>(kDate.size()));
}

}  // namespace

bool has_gnuplot() {
  const ScratchFolder scratch;
  const ConfinedResult result =
      run_gnuplot({"--version"}, scratch.path() / "output", scratch.path() / "messages");
  return result.end == ConfinedEnd::kExited && result.code == 0;
}

Figure::Figure(double width_cm, double height_cm) : width_cm_(width_cm), height_cm_(height_cm) {}

void Figure::block(std::string_view name, std::string_view rows) {
  body_ +=
      fmt::format("${} << END_OF_BLOCK\n{}{}END_OF_BLOCK\n", name, rows, rows.ends_with('\n') ? "" : "\n");
}

void Figure::script(std::string_view commands) {
  body_ += commands;
  body_ += '\n';
}

void Figure::write(const fs::path& path) const {
  const ScratchFolder scratch;
  const fs::path picture = scratch.path() / ("figure" + path.extension().string());
  const fs::path program = scratch.path() / "script.gp";
  const fs::path messages = scratch.path() / "messages";
  const std::string script =
      fmt::format("set encoding utf8\nset terminal {}\n", terminal_for(path, width_cm_, height_cm_)) +
      "set border 3 linecolor rgb '#444444'\nset tics nomirror\nset grid linecolor rgb '#dddddd' linetype 1\n"
      "set key noenhanced\n" +
      body_ + "\nset output\n";
  write_atomically(program, std::string_view(script));
  const ConfinedResult result = run_gnuplot({"-d", program.string()}, picture, messages);
  if (result.end == ConfinedEnd::kNoProgram) {
    fail(
        "cannot draw {}: gnuplot is not installed; install it (Debian: gnuplot-nox) or leave the figures out",
        path.string());
  }
  if (result.end == ConfinedEnd::kNoFilter) {
    fail(
        "cannot draw {}: this system does not let gnuplot be confined (seccomp), and a script with names "
        "from logs is "
        "not run otherwise; leave the figures out (--tables-only) or draw them on another machine",
        path.string());
  }
  std::error_code ignored;
  if (result.code != 0 || !fs::exists(picture) || fs::file_size(picture, ignored) == 0) {
    fail("gnuplot could not draw {}: {}", path.string(),
         fs::exists(messages) ? quote::terminal(read_text(messages)) : "no message");
  }
  std::vector<std::uint8_t> bytes = read_bytes(picture);
  forget_date(bytes);
  write_atomically(path, std::as_bytes(std::span(bytes)));
}

}  // namespace longtail::base
