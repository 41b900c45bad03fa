#include "longtail/base/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/file.h"

namespace longtail::base {
namespace {

namespace fs = std::filesystem;

// A folder that is gone with its owner.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    fs::path place = fs::temp_directory_path(error);
    if (error) place = "/tmp";  // a TMPDIR that is none
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

// Starts gnuplot without a shell; both its outputs go to `messages`. Returns its exit code, 127 if it cannot
// start.
int run_gnuplot(const std::vector<std::string>& arguments, const fs::path& messages) {
  std::vector<char*> argv;
  std::string program = "gnuplot";
  argv.push_back(program.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // A fixed date inside the PDF, so that the same figure has the same bytes.
  std::string date = "SOURCE_DATE_EPOCH=0";
  std::vector<char*> environment = {date.data()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "SOURCE_DATE_EPOCH=", 18) != 0) environment.push_back(*entry);
  }
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "gnuplot", &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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
  // Twice the pixels of the SVG, 305 to the inch: text, lines and points as large on paper as in the PDF.
  if (ending == ".png") {
    return fmt::format("pngcairo size {},{} font 'Sans,28.5' linewidth 2.8 pointscale 2.8", 2 * width,
                       2 * height);
  }
  fail("{}: a figure ends in .pdf, .svg or .png", path.string());
}

// The same figure is the same file: the date in a PDF becomes one of the same length.
void forget_date(std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDate = "/CreationDate (D:", kFixed = "20000101000000";
  const auto at = std::search(bytes.begin(), bytes.end(), kDate.begin(), kDate.end());
  if (static_cast<std::size_t>(bytes.end() - at) < kDate.size() + kFixed.size()) return;
  std::copy(kFixed.begin(), kFixed.end(), at + static_cast<std::ptrdiff_t>(kDate.size()));
}

}  // namespace

std::string_view strategy_colour(std::string_view strategy) {
  const std::string_view name = strategy.substr(0, strategy.find(':'));
  if (name == "uniform") return kOkabeIto[5];
  if (name == "class_balanced") return kOkabeIto[6];
  if (name == "square_root") return kOkabeIto[3];
  if (name == "progressive") return kOkabeIto[7];
  constexpr std::array<std::size_t, 3> kOthers = {1, 2, 0};
  std::uint32_t sum = 0;
  for (const char letter : strategy) sum = sum * 31 + static_cast<unsigned char>(letter);
  return kOkabeIto[kOthers[sum % kOthers.size()]];
}

bool has_gnuplot() {
  const ScratchFolder scratch;
  return run_gnuplot({"--version"}, scratch.path() / "messages") == 0;
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
      fmt::format("set encoding utf8\nset terminal {}\nset output '{}'\n",
                  terminal_for(path, width_cm_, height_cm_), picture.string()) +
      "set border 3 linecolor rgb '#444444'\nset tics nomirror\nset grid linecolor rgb '#dddddd' linetype 1\n"
      "set key noenhanced\n" +
      body_ + "\nset output\n";
  write_atomically(program, std::string_view(script));
  const int code = run_gnuplot({program.string()}, messages);
  if (code == 127) {
    fail(
        "cannot draw {}: gnuplot is not installed; install it (Debian: gnuplot-nox) or leave the figures out",
        path.string());
  }
  if (code != 0 || !fs::exists(picture)) {
    fail("gnuplot could not draw {}: {}", path.string(),
         fs::exists(messages) ? read_text(messages) : "no message");
  }
  std::vector<std::uint8_t> bytes = read_bytes(picture);
  forget_date(bytes);
  write_atomically(path, std::as_bytes(std::span(bytes)));
}

}  // namespace longtail::base
