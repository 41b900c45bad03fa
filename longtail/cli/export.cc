// longtail export: writes the weights of a run for other programs.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/cli/commands.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/evaluate.h"
#include "longtail/train/onnx.h"
#include "longtail/train/safetensors.h"

namespace longtail::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string out;
  std::string format;  // empty: by the ending of `out`
  bool best = false;
  bool last = false;
};

// ".onnx" for "M.ONNX".
std::string ending_of(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return ending;
}

// The format given, or that of the file name's ending.
std::string format_of(const ExportArguments& arguments) {
  const std::string ending = ending_of(arguments.out);
  const std::string said = ending == ".onnx" ? "onnx" : ending == ".safetensors" ? "safetensors" : "";
  if (arguments.format.empty()) return said.empty() ? "safetensors" : said;
  if (!said.empty() && said != arguments.format) {
    base::fail<base::UsageError>(
        "--format {} would go into {}, which is called {}; leave --format out, or give another name to --out",
        arguments.format, arguments.out, ending);
  }
  return arguments.format;
}

// Only models may be written to the folder of the run, so that its own files stay as they are.
void refuse_files_of_the_run(const ExportArguments& arguments) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path run = fs::canonical(arguments.run, error);
  if (error) return;  // reading the run reports the error
  const fs::path out = fs::weakly_canonical(fs::absolute(arguments.out), error);
  if (error || std::mismatch(run.begin(), run.end(), out.begin(), out.end()).first != run.end()) return;
  if (const std::string ending = ending_of(out); ending == ".onnx" || ending == ".safetensors") return;
  base::fail<base::UsageError>(
      "{} is in the folder of the run, whose own files must stay as they are; give --out a name that ends in "
      ".safetensors or .onnx, or another folder",
      arguments.out);
}

void run(const ExportArguments& arguments) {
  const std::string format = format_of(arguments);
  refuse_files_of_the_run(arguments);
  const train::Checkpoint state = train::read_state(arguments.run);
  const train::RunLog& log = *state.log;
  const train::FullResult& result = arguments.last ? log.last : log.best;
  using train::to_json;
  std::map<std::string, std::string> metadata = {
      {"format", "pt"},
      {"dataset", log.dataset},
      {"model", state.config.at("model")},
      {"shortcut", state.config.at("shortcut")},
      {"strategy", log.strategy},
      {"imbalance_ratio", fmt::format("{}", log.rho)},
      {"seed", fmt::format("{}", log.seed)},
      {"epoch", fmt::format("{}", result.epoch + 1)},  // counted from 1, as on the terminal
      {"classes", nlohmann::json(log.class_names).dump()},
      {"groups", log.groups},
      {"group_sizes", nlohmann::json(log.group_sizes).dump()},
      {"image", to_json(log)["image"].dump()},
      {"test_acc", fmt::format("{}", result.accuracy.overall)},
      {"protocol", log.fingerprint.protocol},
      {"longtail", log.fingerprint.version}};
  // Its weights are [classes][features], like those of a linear head, but the logits are cosines.
  if (state.spec().head == nn::Head::kCosine) metadata["head"] = "cosine";
  // Probabilities are computed from the logits times the scale of the loss.
  const double scale = train::logit_scale(train::config_from_map(state.config));
  if (scale != 1) metadata["logit_scale"] = fmt::format("{}", scale);
  const std::int64_t steps = (std::int64_t{result.epoch} + 1) * state.steps_per_epoch;
  const train::NetworkState& network = arguments.last ? state.network : state.best;
  base::write_atomically(arguments.out, format == "onnx"
                                            ? train::onnx_model(state.spec(), network, metadata)
                                            : train::safetensors(state.spec(), network, steps, metadata));
  fmt::print("{}: the network after epoch {} of {} ({}, {:.2f} % on the test set), as {}.\n", arguments.out,
             result.epoch + 1, arguments.run, arguments.last ? "the last" : "the best",
             result.accuracy.overall, format);
}

}  // namespace

void add_export(App& app) {
  App* command = app.add_subcommand("export", "Write the network of a run as safetensors or ONNX");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("RUN", arguments->run, "Folder of the run")->required();
  command->add_option("--out", arguments->out, "File to write")->required()->type_name("FILE");
  command
      ->add_option(
          "--format", arguments->format,
          "safetensors (weights) or onnx (weights and graph) [by the ending of FILE, else safetensors]")
      ->check(IsMember({"safetensors", "onnx"}));
  Option* best = command->add_flag("--best", arguments->best, "The network at the best epoch (the default)");
  command->add_flag("--last", arguments->last, "The network after the last epoch")->excludes(best);
  command->footer(
      "Example:\n"
      "  longtail export runs/progressive-42 --out model.safetensors\n"
      "  longtail export runs/progressive-42 --out model.onnx\n"
      "The ONNX model takes `images` (N, channels, side, side), normalised as in training, and gives "
      "`logits`.\n"
      "Weights and batch-norm statistics have PyTorch's names; bench/peers/load_safetensors.py shows how to "
      "load them.");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace longtail::cli
