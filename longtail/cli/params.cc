// longtail params: prints every parameter of a run with default, range and meaning. docs/parameters.md is its
// output.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "longtail/cli/commands.h"
#include "longtail/train/config.h"

namespace longtail::cli {
namespace {

struct Section {
  const char* name;
  const char* words;
};
const std::vector<Section> kSections = {{"data", "Which images a run sees."},
                                        {"model", "What is trained, and what does the arithmetic."},
                                        {"train", "How it is trained; every default is the paper's."},
                                        {"run", "Where and how it runs; never changes a result."}};

// Escapes bars, which would end the table cell.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

void print_markdown() {
  fmt::print(
      "# Parameters\n\n"
      "Every parameter of a run: a flag of `longtail train` (`weight_decay` is `--weight-decay`) and a key "
      "of a study file, in the\n"
      "table named by its section. This page is what `longtail params --markdown` prints.\n");
  for (const Section& section : kSections) {
    fmt::print(
        "\n## `{}`\n\n{}\n\n| name | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n",
        section.name, section.words);
    for (const auto& entry : train::run_params().entries()) {
      const base::ParamInfo& info = entry.info;
      if (info.section != section.name) continue;
      fmt::print("| `{}` | {} | {} | {} | {} |\n", info.name, info.type,
                 info.initial.empty() ? "" : "`" + info.initial + "`", cell(info.range), cell(info.help));
    }
  }
}

void print_text() {
  for (const Section& section : kSections) {
    fmt::print("[{}]  {}\n", section.name, section.words);
    for (const auto& entry : train::run_params().entries()) {
      const base::ParamInfo& info = entry.info;
      if (info.section != section.name) continue;
      fmt::print("  {:<14} {:<9} {}\n", info.name, info.type,
                 info.initial.empty() ? "(empty)" : info.initial);
      fmt::print("      {}{}\n", info.help, info.range.empty() ? "" : " {" + info.range + "}");
    }
    fmt::print("\n");
  }
}

}  // namespace

void add_params(App& app) {
  App* command = app.add_subcommand("params", "List every parameter with default, range and meaning");
  const auto markdown = std::make_shared<bool>(false);
  command->add_flag("--markdown", *markdown, "As the page docs/parameters.md");
  command->callback([markdown] { *markdown ? print_markdown() : print_text(); });
}

}  // namespace longtail::cli
