// longtail data: lists, describes and fetches data sets.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/interrupt.h"
#include "longtail/data/arrays.h"
#include "longtail/data/install.h"
#include "longtail/data/readers/reader.h"
#include "longtail/data/registry.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using base::with_commas;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string name;
  std::string path;
  std::string data;
  std::string url;
  std::string root;
  std::optional<std::string> fit;
  bool skip_unreadable = false;
  std::optional<int> image_size;
  int timeout = 30;
  bool again = false;
};

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// A progress bar on a terminal; prints nothing to a file.
class Bar {
 public:
  explicit Bar(std::string label) : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Bar() { clear(); }

  void show(std::uint64_t done, std::uint64_t total) {
    const auto now = Clock::now();
    if (first_ == Clock::time_point{}) {
      first_ = now;
      first_done_ = done;
    }
    if (!terminal_ || total == 0 || now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    const double seconds = std::chrono::duration<double>(now - first_).count();
    const double rate = seconds > 0.5 ? static_cast<double>(done - std::min(done, first_done_)) / seconds : 0;
    const std::string left =
        rate > 0 ? base::duration(std::round(static_cast<double>(total - done) / rate)) + " left" : "";
    const auto width = static_cast<std::size_t>(30 * done / total);
    fmt::print(stderr, "\r{}  [{:<30}] {:3}%  {:.1f} of {:.1f} MiB  {:.1f} MiB/s  {}\x1b[K", label_,
               std::string(width, '#'), 100 * done / total, mebibytes(done), mebibytes(total),
               rate / (1 << 20), left);
    std::fflush(stderr);
    open_ = true;
  }
  void note(const std::string& sentence) {
    clear();
    fmt::print(stderr, "longtail: {}\n", sentence);
  }

 private:
  void clear() {
    if (open_) fmt::print(stderr, "\r\x1b[K");
    open_ = false;
  }

  std::string label_;
  bool terminal_;
  bool open_ = false;
  std::uint64_t first_done_ = 0;
  Clock::time_point first_{};
  Clock::time_point drawn_{};
};

const data::PublishedData& published_or_fail(const std::string& name) {
  if (const auto* published = data::find_published(name)) return *published;
  const std::vector<std::string> names = data::published_names();
  base::fail<base::UsageError>("unknown data set `{}`{}; {} can be fetched", name,
                               base::did_you_mean(name, names), base::join(names, ", "));
}

fs::path destination(const Options& options) {
  return options.data.empty() ? data::cache_folder() : fs::path(options.data);
}

// The folders of imported data in the search path.
std::vector<fs::path> imported(const fs::path& dir) {
  std::vector<fs::path> found;
  for (const fs::path& folder : data::data_folders(dir)) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().filename().string().front() != '.' && data::has_arrays(entry.path())) {
        found.push_back(entry.path());
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void list(const Options& options) {
  for (const data::PublishedData& published : data::published_data()) {
    const auto found = data::find_data(published, options.data);
    fmt::print("{:<14} {}\n{:<14} {}\n", published.name, published.title, "",
               found ? "in " + found->string()
                     : fmt::format("not here; get it with `longtail data fetch {}`", published.name));
  }
  for (const fs::path& path : imported(options.data)) {
    fmt::print("{:<14} imported, in {}\n", path.filename().string(), path.string());
  }
  fmt::print("\nYour own:\n");
  for (const data::Reader& reader : data::readers()) fmt::print("  {:<18} {}\n", reader.form, reader.help);
}

void print_split(const char* which, const data::Split& split, int classes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  for (const std::int32_t label : split.labels) ++counts[static_cast<std::size_t>(label)];
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  fmt::print("{:<12}{} images", which, with_commas(split.size()));
  if (*fewest == *most) {
    fmt::print(", {} per class\n", with_commas(*most));
  } else {
    fmt::print(", {} to {} per class\n", with_commas(*fewest), with_commas(*most));
  }
}

std::string numbers(const std::array<float, 3>& values, int channels) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (int i = 0; i < channels; ++i)
    parts.push_back(fmt::format("{:.4f}", values[static_cast<std::size_t>(i)]));
  return base::join(parts, ", ");
}

data::PictureOptions picture_options(const Options& options) {
  return {data::parse_fit(options.fit.value_or("stretch")), options.skip_unreadable,
          options.image_size.value_or(data::kSide)};
}

// Refuses flags about pictures and lists for a source that has none. Whether images are already square is
// only known when they are loaded.
void refuse_idle_flags(const Options& options, const std::string& source) {
  const auto kind = source.substr(0, source.find(':'));
  const bool published = data::find_published(source) != nullptr;
  const auto refuse = [&](const char* flag) {
    base::fail<base::UsageError>("{} would do nothing with `{}`; leave it out", flag, source);
  };
  if (published && options.fit) refuse("--fit");
  if (kind != "folder" && kind != "list" && options.skip_unreadable) refuse("--skip-unreadable");
  if (kind != "list" && !options.root.empty()) refuse("--root");
}

void info(const Options& options) {
  refuse_idle_flags(options, options.name);
  const auto started = Clock::now();
  const data::Dataset data = data::load_dataset(options.name, options.data, picture_options(options));
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  const auto* published = data::find_published(options.name);
  fmt::print("{:<12}{}\n", "name", data.name);
  if (published) {
    fmt::print("{:<12}{}\n", "what", published->title);
    if (const auto found = data::find_data(*published, options.data))
      fmt::print("{:<12}{}\n", "where", found->string());
  }
  print_split("training", data.train, data.classes());
  print_split("test", data.test, data.classes());
  const std::size_t shown = data.class_names.size() > 100 ? 20 : data.class_names.size();
  fmt::print("{:<12}{}: {}{}\n", "classes", data.classes(),
             base::join(std::span(data.class_names).first(shown), ", "),
             shown < data.class_names.size() ? ", ..." : "");
  fmt::print("{:<12}{}x{} pixels{}\n", "images", data.side, data.side,
             data.form.empty() ? "" : fmt::format(", made square by `{}`", data.form));
  fmt::print("{:<12}{}\n", "channels", data.channels);
  fmt::print("{:<12}{}\n", "mean", numbers(data.mean, data.channels));
  fmt::print("{:<12}{}\n", "deviation", numbers(data.deviation, data.channels));
  fmt::print("{:<12}{}{}\n", "hash", data.hash,
             published && data.hash == published->hash ? " (as published)" : "");
  if (data.picture_side > 0)
    fmt::print("{:<12}{} pixels, the median of their shorter sides\n", "pictures", data.picture_side);
  fmt::print("{:<12}{:.2f} s\n", "loaded in", seconds);
  for (const std::string& remark : data.remarks) fmt::print("{}\n", base::quote::terminal(remark));
}

void fetch(const Options& options) {
  const data::PublishedData& published = published_or_fail(options.name);
  const fs::path folder = destination(options);
  if (const auto found = data::find_data(published, folder); found && !options.again) {
    data::load_published(published, *found);
    fmt::print("{} is already in {} and whole\n", published.name, found->string());
    return;
  }
  catch_interrupts();
  Bar bar(published.name);
  data::DownloadOptions download;
  download.timeout = std::chrono::seconds(options.timeout);
  download.progress = [&](std::uint64_t done, std::uint64_t total) { bar.show(done, total); };
  download.remark = [&](const std::string& sentence) { bar.note(sentence); };
  download.stop = interrupted;
  const fs::path target = data::fetch_data(published, folder, options.url, download);
  fmt::print("{} is in {}, its size and checksums are right\n", published.name, target.string());
}

// The source as the name of a data set: kind:PATH unchanged, a folder according to its contents.
std::string own_source(const std::string& path) {
  if (path.find(':') != std::string::npos) return path;
  std::error_code ignored;
  if (data::has_arrays(path)) return "arrays:" + path;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (entry.is_directory(ignored)) return "folder:" + path;
  }
  base::fail<base::UsageError>(
      "{} is neither a folder with a folder for each class nor a folder of arrays; write the kind before it: "
      "{}",
      path, data::reader_forms());
}

void import(const Options& options) {
  const fs::path folder = destination(options);
  fs::path target;
  bool replaced = false;
  if (const auto* published = data::find_published(options.name)) {
    refuse_idle_flags(options, options.name);
    if (options.image_size)
      base::fail<base::UsageError>("published data are kept as they are; leave --image-size out");
    catch_interrupts();
    target = data::import_published(*published, options.path, folder, interrupted);
  } else {
    replaced = fs::exists(data::own_place(options.name, folder));
    const std::string source = own_source(options.path);
    refuse_idle_flags(options, source);
    data::PictureOptions pictures = picture_options(options);
    pictures.keep_side = !options.image_size;
    const data::Dataset own = data::load_dataset(source, options.root, pictures);
    for (const std::string& remark : own.remarks) fmt::print("{}\n", base::quote::terminal(remark));
    catch_interrupts();  // nothing was written so far, so a signal could end the program
    target = data::import_own(options.name, own, folder, interrupted);
  }
  fmt::print("{} is in {}{}\n", options.name, target.string(),
             replaced ? "; what was there is replaced" : "");
}

}  // namespace

void add_data(App& app) {
  App* command = app.add_subcommand("data", "List, describe, fetch and import data sets");
  command->require_subcommand(1);
  command->footer(
      "Data is looked for in --data DIR, or else in $LONGTAIL_DATA, ./data, ~/.cache/longtail and "
      "/usr/share/datasets.\n"
      "Examples:\n"
      "  longtail data fetch cifar100\n"
      "  longtail data import cifar100 cifar-100-python.tar.gz\n"
      "  longtail data import birds folder:/photos/birds && longtail data info birds");
  const auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* help, void (*run)(const Options&)) {
    App* sub = command->add_subcommand(name, help);
    sub->add_option("--data", options->data, "Folder with data")->type_name("DIR")->may_be_empty();
    sub->callback([options, run] { run(*options); });
    return sub;
  };
  const auto add_picture_flags = [options](App& sub) {
    sub.add_option(
           "--fit", options->fit,
           "How a picture that is not square becomes square: stretch, crop (its middle) or pad (black "
           "bars) [stretch]")
        ->check(IsMember({"stretch", "crop", "pad"}));
    sub.add_option("--image-size", options->image_size,
                   "Side of the square images: a multiple of 8 from 16 to 128 [32; `import` keeps arrays as "
                   "they are]");
    sub.add_flag("--skip-unreadable", options->skip_unreadable, "Leave out pictures that cannot be read");
  };
  add("list", "What is known by name and where it is", list);

  App* sub = add("info", "Load a data set, check it and describe it", info);
  sub->add_option("name", options->name, "cifar100, folder:DIR, ... (see `longtail data list`)")->required();
  add_picture_flags(*sub);

  sub = add("fetch", "Download a data set from its authors, check it and unpack it", fetch);
  sub->add_option("name", options->name, base::join(data::published_names(), ", "))->required();
  sub->add_option("--url", options->url, "Another address: of the archive, or of a folder if it ends with /");
  sub->add_option("--timeout", options->timeout, "Seconds to wait for a silent server [30]")
      ->check(Range(1, 3600));
  sub->add_flag("--again", options->again, "Fetch even if it is already there");
  sub->footer("A download that was cut resumes where it stopped when the same command is given again.");

  sub = add("import", "Check data you have and keep it under a name", import);
  sub->add_option("name", options->name, "A published name, or one of your own")->required();
  sub->add_option("path", options->path,
                  "Published data: its archive or folder. Your own: folder:DIR, list:TRAIN,TEST, ...")
      ->required();
  add_picture_flags(*sub);
  sub->add_option("--root", options->root, "Folder that the paths in list files are relative to")
      ->type_name("DIR");
}

}  // namespace longtail::cli
