// longtail init: the initial weights of a network, the same as PyTorch draws for the seed.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/cli/commands.h"
#include "longtail/nn/init.h"

namespace longtail::cli {
namespace {

struct InitArguments {
  std::string model = "resnet32";
  std::string shortcut = "projection";
  int classes = 100;
  int channels = 3;
  int width = 1;
  std::string head = "linear";
  std::int64_t seed = 42;
  std::string out;
};

void run(const InitArguments& a) {
  const nn::ResNetSpec spec = nn::make_spec(a.model, a.shortcut, a.classes, a.channels, a.width, 32, a.head);
  const std::vector<float> parameters = nn::initial_parameters(spec, a.seed);
  base::write_atomically(a.out, std::as_bytes(std::span(parameters)));
  fmt::print("{}: {} parameters of {} for {} classes, seed {}.\n", a.out,
             base::with_commas(static_cast<std::int64_t>(parameters.size())), a.model, a.classes, a.seed);
}

}  // namespace

void add_init(App& app) {
  App* command = app.add_subcommand("init", "Write the initial weights of a network");
  const auto a = std::make_shared<InitArguments>();
  command->add_option("--model", a->model, "resnet20, resnet32, resnet44, resnet56 or resnet110")
      ->capture_default_str();
  command->add_option("--shortcut", a->shortcut, "projection (the paper's) or pad (without parameters)")
      ->capture_default_str();
  command->add_option("--classes", a->classes, "Number of classes")->capture_default_str();
  command->add_option("--channels", a->channels, "Channels of the images: 1 or 3")->capture_default_str();
  command->add_option("--width", a->width, "1, 2 or 4: channels of the stages are 16, 32 and 64 times this")
      ->capture_default_str();
  command->add_option("--head", a->head, "linear or cosine")->capture_default_str();
  command->add_option("--seed", a->seed, "As given to torch.manual_seed")->capture_default_str();
  command->add_option("--out", a->out, "File to write")->required()->type_name("FILE");
  command->footer(
      "Example:\n"
      "  longtail init --model resnet32 --classes 100 --seed 42 --out init.f32\n"
      "The file holds 32-bit little-endian floats, one parameter after the other in the order of PyTorch's\n"
      "named_parameters(). They equal what the paper's PyTorch code starts from with this seed, to 1e-6.");
  command->callback([a] { run(*a); });
}

}  // namespace longtail::cli
