// longtail predict: the predictions of a trained network for new pictures.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/predict_pictures.h"
#include "longtail/data/pictures.h"
#include "longtail/train/predictor.h"

namespace longtail::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kAtOnce = 1024;  // pictures in memory

struct PredictArguments {
  std::string run;
  std::vector<std::string> pictures;
  train::PredictorOptions options;
  int top = 5;
  bool as_json = false;
};

// The classes with the highest probabilities; in a tie the lower number comes first.
std::vector<std::size_t> highest(const std::vector<double>& chances, int top) {
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return chances[a] > chances[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  return order;
}

class Printer {
 public:
  Printer(const PredictArguments& arguments, const std::vector<std::string>& names)
      : arguments_(arguments), names_(names) {}

  void print(const fs::path& picture, const std::vector<double>& chances) {
    std::vector<std::string> words;
    json list = json::array();
    for (const std::size_t k : highest(chances, arguments_.top)) {
      list.push_back({{"class", names_[k]}, {"probability", chances[k]}});
      words.push_back(fmt::format("{} {:.1f}%", names_[k], 100 * chances[k]));
    }
    if (arguments_.as_json) {
      const json object = {{"picture", base::to_utf8(picture.string())}, {"classes", list}};
      fmt::print("{}{}", first_ ? "[" : ",\n ", object.dump());
      first_ = false;
    } else {
      fmt::print("{}  {}\n", base::quote::terminal(picture.string()), base::join(words, ", "));
    }
  }
  void end() const {
    if (arguments_.as_json) fmt::print("{}]\n", first_ ? "[" : "");
  }

 private:
  const PredictArguments& arguments_;
  const std::vector<std::string>& names_;
  bool first_ = true;
};

void run(const PredictArguments& arguments) {
  const train::Predictor predictor(arguments.run, arguments.options);
  const FoundPictures found = pictures_of(arguments.pictures);
  const std::vector<fs::path>& pictures = found.pictures;
  Printer printer(arguments, predictor.class_names());
  std::vector<std::string> faults;
  for (std::size_t from = 0; from < pictures.size(); from += kAtOnce) {
    std::vector<std::uint8_t> pixels;
    std::vector<fs::path> read;
    for (std::size_t i = from; i < std::min(from + kAtOnce, pictures.size()); ++i) {
      try {
        const auto one = data::read_picture(pictures[i], predictor.form(), predictor.shape());
        pixels.insert(pixels.end(), one.begin(), one.end());
        read.push_back(pictures[i]);
      } catch (const base::Error& error) {
        faults.emplace_back(error.what());
      }
    }
    const auto chances = predictor.probabilities(std::move(pixels));
    for (std::size_t i = 0; i < read.size(); ++i) printer.print(read[i], chances[i]);
  }
  printer.end();
  refuse_unread(found, faults);
}

}  // namespace

void add_predict(App& app) {
  App* command = app.add_subcommand("predict", "Say what is on new pictures, with a trained network");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("RUN", arguments->run, "Folder of a run; nothing else of the training is needed")
      ->required();
  command->add_option("PICTURE", arguments->pictures, "Pictures (PNG, JPEG, WebP, GIF), or folders of them")
      ->required();
  command->add_option("--top", arguments->top, "How many classes to name for each picture")
      ->check(PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print a JSON list and nothing else");
  command->add_flag("--last", arguments->options.last,
                    "The network after the last epoch instead of that at the best");
  command->add_option("--engine", arguments->options.engine,
                      "Another engine than the run's (which is taken if this CPU has it)");
  command->add_option("--threads", arguments->options.threads, "Threads; 0 is all CPUs [0]")
      ->check(Range(0, 1024));
  command->footer(
      "Examples:\n"
      "  longtail predict runs/progressive-42 photo.jpg\n"
      "  longtail predict answer/network holiday/ --top 1 --json\n"
      "Pictures are read as those of the training were: turned upright, fitted to a square, averaged down.\n"
      "Folders are searched with all folders in them, through links.\n"
      "One that cannot be read is named at the end, and the exit code is then 1.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace longtail::cli
