// longtail subset: which images are in the subset, as the paper's Python code would choose them.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "longtail/base/file.h"
#include "longtail/base/text.h"
#include "longtail/cli/class_counts.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/data/groups.h"
#include "longtail/data/subset.h"

namespace longtail::cli {
namespace {

using base::with_commas;

struct SubsetArguments {
  LabelSource source;
  data::SubsetConfig subset;
  std::int64_t seed = 42;
  std::string out;
  bool classes = false;
};

std::string as_lines(std::span<const std::int32_t> indices) {
  std::string text;
  for (const std::int32_t index : indices) text += fmt::format("{}\n", index);
  return text;
}

std::string title(const SubsetArguments& arguments) {
  const data::SubsetConfig& subset = arguments.subset;
  std::string text = fmt::format("{}, profile {}", arguments.source.name(), subset.profile);
  if (data::takes_ratio(subset)) text += fmt::format(", rho {}", subset.rho);
  if (subset.profile != "natural") text += fmt::format(", seed {}", arguments.seed);
  return text;
}

void print_statistics(const SubsetArguments& arguments, const data::Subset& subset, std::int64_t all) {
  const data::CountStatistics statistics = data::count_statistics(subset.counts);
  const data::Groups groups = data::Groups::parse(arguments.subset.groups);
  const auto sizes = groups.trained_sizes(subset.counts);
  fmt::print("{}\n", title(arguments));
  fmt::print("  images          {} of {} in {} classes\n", with_commas(statistics.total), with_commas(all),
             subset.counts.size());
  fmt::print("  largest class   {}\n", with_commas(statistics.max));
  fmt::print("  smallest class  {}\n", with_commas(statistics.min));
  // The mean of the middle two, with halves rounded up, as in the paper's table.
  fmt::print("  median class    {}\n",
             with_commas(static_cast<std::int64_t>(std::floor(statistics.median + 0.5))));
  fmt::print("  groups          {} head, {} medium, {} tail ({})\n", sizes[0], sizes[1], sizes[2],
             groups.name());
  fmt::print("  sha256          {}\n", subset.hash());
}

void print_classes(const data::Subset& subset, const Labels& labels, const data::Groups& groups) {
  fmt::print("\n  class  images  group   name\n");
  for (std::size_t k = 0; k < subset.counts.size(); ++k) {
    fmt::print("  {:>5}  {:>6}  {:<6}  {}\n", k, subset.counts[k],
               subset.counts[k] > 0 ? data::kGroupNames[static_cast<std::size_t>(groups.of(subset.counts[k]))]
                                    : "out",
               labels.class_names[k]);
  }
}

void run(const SubsetArguments& arguments) {
  const Labels labels = load_labels(arguments.source);
  const data::Subset subset =
      data::make_subset(arguments.subset, labels.labels, labels.classes(), arguments.seed);
  if (!arguments.out.empty()) base::write_atomically(arguments.out, as_lines(subset.indices));
  print_statistics(arguments, subset, static_cast<std::int64_t>(labels.labels.size()));
  if (arguments.classes)
    print_classes(subset, labels, data::Groups::parse(arguments.subset.groups).decided(subset.counts));
  if (!arguments.out.empty()) {
    fmt::print("  written to      {} (one index into the training images per line, class after class)\n",
               arguments.out);
  }
}

}  // namespace

void add_subset(App& app) {
  static const auto table = data::subset_params();
  App* command = app.add_subcommand("subset", "Choose a long-tailed subset of a data set");
  const auto arguments = std::make_shared<SubsetArguments>();
  arguments->source.add_flags(*command);
  add_param_flags(*command, table, arguments->subset);
  command->add_option("--seed", arguments->seed, "Seed of NumPy's RandomState, which chooses the images")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "File for the chosen images: one index per line")
      ->type_name("FILE");
  command->add_flag("--classes", arguments->classes, "Also print every class");
  command->footer(
      "Examples:\n"
      "  longtail subset --rho 100 --seed 42 --out subset.txt        CIFAR-100-LT, image for image the "
      "paper's\n"
      "  longtail subset --dataset fashion_mnist --profile step --rho 50\n"
      "  longtail subset --labels labels.txt --rho 20 --class-order shuffled:7 --out subset.txt\n"
      "docs/subsets.md explains the profiles.");
  command->callback([arguments, command] {
    decide_subset(*command, arguments->source, arguments->subset);
    run(*arguments);
  });
}

}  // namespace longtail::cli
