// longtail sample: what a strategy draws in an epoch, as declared and as counted.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/cli/class_counts.h"
#include "longtail/cli/commands.h"
#include "longtail/cli/param_flags.h"
#include "longtail/cli/sample_out.h"
#include "longtail/cli/strategy_check.h"
#include "longtail/data/groups.h"
#include "longtail/data/subset.h"
#include "longtail/sampling/batch_odds.h"
#include "longtail/sampling/chi_square.h"
#include "longtail/sampling/stream.h"

namespace longtail::cli {
namespace {

using base::with_commas;

struct SampleArguments {
  LabelSource source;
  data::SubsetConfig subset;
  std::string counts_file;
  std::int64_t seed = 42;
  std::string strategy = "progressive";
  int epoch = 0;
  int epochs = 200;
  int batch = 128;
  std::int64_t draws = 1'000'000;
  std::int64_t indices = 0;  // print that many indices of the stream and nothing else
  std::string per = "class";
  std::string out;
  std::string shard;
};

// A line of the table: a class or a group of classes.
struct Line {
  std::string name;
  std::int64_t classes = 1;
  std::int64_t images = 0;
  double probability = 0;
  std::int64_t drawn = 0;
  std::vector<int> members = {};  // its classes
  double absent = 0;              // the probability that a batch has none of them
};

Available classes_of(const SampleArguments& arguments) {
  if (!arguments.counts_file.empty()) {
    const auto counts = read_counts(arguments.counts_file);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < counts.size(); ++k) names.push_back(std::to_string(k));
    return {counts, names};
  }
  Available available = available_classes(arguments.source);
  available.counts = data::profile_counts(arguments.subset, available.counts, arguments.seed);
  return available;
}

void check(const SampleArguments& arguments, const sampling::Strategy& strategy, std::int64_t images) {
  sampling::refuse_late_change("strategy", strategy.name(), strategy.deferral(arguments.epochs),
                               arguments.epochs);
  if (arguments.epoch >= arguments.epochs) {
    base::fail<base::UsageError>("there is no epoch {} in a training of {}; epochs are counted from 0",
                                 arguments.epoch, arguments.epochs);
  }
  if (arguments.batch > images) {
    base::fail<base::UsageError>(
        "a batch of {} is larger than an epoch of {} draws; give a smaller --batch-size", arguments.batch,
        images);
  }
  if (!arguments.out.empty()) refuse_other_endings(arguments.out);
  if (!arguments.shard.empty() && arguments.out.empty() && arguments.indices == 0) {
    base::fail<base::UsageError>("--shard goes with --out or --indices: the table is about the whole epoch");
  }
}

// Counts the draws per class. An epoch without replacement has a limited number of draws; more are taken with
// the next seeds.
std::vector<std::int64_t> count_draws(const SampleArguments& arguments, const sampling::Strategy& strategy,
                                      std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> drawn(counts.size());
  std::vector<std::int64_t> images(1 << 16);
  auto seed = static_cast<std::uint64_t>(arguments.seed);
  for (std::int64_t left = arguments.draws; left > 0; ++seed) {
    const sampling::IndexStream stream(strategy, counts,
                                       {arguments.epoch, arguments.epochs, {}, arguments.batch}, seed);
    const std::int64_t here = stream.is_permutation() ? std::min(left, stream.size()) : left;
    for (std::int64_t first = 0; first < here; first += static_cast<std::int64_t>(images.size())) {
      const auto part =
          static_cast<std::size_t>(std::min(here - first, static_cast<std::int64_t>(images.size())));
      stream.fill(first, std::span(images).first(part));
      for (std::size_t i = 0; i < part; ++i) ++drawn[static_cast<std::size_t>(stream.class_of(images[i]))];
    }
    left -= here;
  }
  return drawn;
}

std::vector<Line> by_group(const std::vector<Line>& classes, const data::Groups& groups) {
  std::vector<Line> lines;
  lines.reserve(data::kGroupNames.size());
  for (const std::string_view name : data::kGroupNames) lines.push_back({std::string(name), 0});
  for (const Line& line : classes) {
    if (line.images == 0) continue;  // the class has no images, so it is in no group
    Line& group = lines[static_cast<std::size_t>(groups.of(line.images))];
    ++group.classes;
    group.images += line.images;
    group.probability += line.probability;
    group.drawn += line.drawn;
    group.members.insert(group.members.end(), line.members.begin(), line.members.end());
  }
  return lines;
}

void print_table(const SampleArguments& arguments, const std::vector<Line>& lines) {
  const bool groups = arguments.per == "group";
  std::size_t width = 5;
  for (const Line& line : lines) width = std::max(width, line.name.size());
  fmt::print("  {:<{}}{}  {:>9}  {:>11}  {:>9}  {:>9}  {:>10}  {:>10}\n", groups ? "group" : "class", width,
             groups ? "  classes" : "", "images", "probability", fmt::format("in {}", arguments.batch),
             "absent", "drawn", "share");
  for (const Line& line : lines) {
    const double share = static_cast<double>(line.drawn) / static_cast<double>(arguments.draws);
    fmt::print("  {:<{}}{}  {:>9}  {:>11.7f}  {:>9.4f}  {:>8.3f}%  {:>10}  {:>10.7f}\n", line.name, width,
               groups ? fmt::format("  {:>7}", line.classes) : "", with_commas(line.images), line.probability,
               arguments.batch * line.probability, 100 * line.absent, with_commas(line.drawn), share);
  }
}

// How well the draws match the declared probabilities, and what a batch contains.
void print_summary(const SampleArguments& arguments, const std::vector<Line>& classes, bool replacement,
                   bool stratified) {
  std::vector<std::int64_t> drawn;
  std::vector<double> probabilities;
  double present = 0;
  std::int64_t with_images = 0;
  for (const Line& line : classes) {
    drawn.push_back(line.drawn);
    probabilities.push_back(line.probability);
    present += 1 - line.absent;
    with_images += line.images > 0;
  }
  fmt::print("\nA batch of {} has {:.1f} of the {} classes on average.\n", arguments.batch, present,
             with_images);
  if (!replacement) {
    fmt::print("Every image comes once per epoch, so the draws of whole epochs fit exactly.\n");
    return;
  }
  if (stratified) {
    fmt::print("The draws of a class in a batch never differ from their expectation by 1 or more.\n");
    return;
  }
  const sampling::ChiSquare test = sampling::chi_square(drawn, probabilities);
  fmt::print(
      "{} draws against the declared probabilities: chi-square {:.1f} on {} degrees of freedom, p = "
      "{:.3g}.\n",
      with_commas(arguments.draws), test.statistic, test.freedom, test.p);
}

// The stream that training reads, one index per line, for comparison with other programs.
void print_indices(const sampling::IndexStream& stream, std::int64_t count) {
  if (stream.is_permutation() && count > stream.size()) {
    base::fail<base::UsageError>(
        "an epoch without replacement has {} indices here, not {}; give a smaller --indices", stream.size(),
        count);
  }
  std::vector<std::int64_t> block;
  for (std::int64_t first = 0; first < count; first += static_cast<std::int64_t>(block.size())) {
    block.resize(static_cast<std::size_t>(std::min<std::int64_t>(count - first, 1 << 16)));
    stream.fill(first, block);
    fmt::print("{}\n", fmt::join(block, "\n"));
  }
}

void run(const SampleArguments& arguments) {
  const auto strategy = sampling::make_strategy(arguments.strategy);
  sampling::refuse_feedback(*strategy);
  const Available available = classes_of(arguments);
  const std::int64_t images =
      std::accumulate(available.counts.begin(), available.counts.end(), std::int64_t{0});
  check(arguments, *strategy, images);
  const ShardOf part = ShardOf::parse(arguments.shard);
  const sampling::Situation situation{arguments.epoch, arguments.epochs, {}, arguments.batch};
  if (arguments.indices > 0) {
    const sampling::IndexStream stream(*strategy, available.counts, situation,
                                       static_cast<std::uint64_t>(arguments.seed));
    print_indices(stream.shard(part.rank, part.world), arguments.indices);
    return;
  }
  const bool replacement = !strategy->without_replacement(situation);
  const auto probabilities = strategy->probabilities(available.counts, situation);
  const auto drawn = count_draws(arguments, *strategy, available.counts);
  std::vector<Line> classes;
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    classes.push_back({available.class_names[k],
                       1,
                       available.counts[k],
                       probabilities[k],
                       drawn[k],
                       {static_cast<int>(k)}});
  }
  const bool stratified = strategy->stratified(situation);
  const auto with_absence = [&](std::vector<Line> lines) {
    const sampling::Strata strata =
        stratified ? sampling::Strata(probabilities, arguments.batch) : sampling::Strata();
    for (Line& line : lines) {
      line.absent = stratified ? strata.absence(line.members)
                               : sampling::batch_odds(line.probability, line.images, images, arguments.batch,
                                                      replacement)
                                     .absent;
    }
    return lines;
  };
  fmt::print("{} at epoch {} of {}: {} images in {} classes, {}\n\n", strategy->name(), arguments.epoch,
             arguments.epochs, with_commas(images), sampling::classes_with_images(available.counts),
             stratified    ? "in stratified batches"
             : replacement ? "drawn with replacement"
                           : "each once per epoch");
  const data::Groups groups = data::Groups::parse(arguments.subset.groups).decided(available.counts);
  print_table(arguments, with_absence(arguments.per == "group" ? by_group(classes, groups) : classes));
  print_summary(arguments, with_absence(classes), replacement, stratified);
  if (arguments.out.empty()) return;
  const sampling::IndexStream stream(*strategy, available.counts, situation,
                                     static_cast<std::uint64_t>(arguments.seed));
  const std::int64_t written = write_epoch(stream.shard(part.rank, part.world), arguments.out);
  fmt::print("{} indices into the subset, whose images are ordered class after class, are in {}.\n",
             with_commas(written), arguments.out);
}

// Why the strategy cannot be created; empty if it can.
std::string strategies_help() {
  std::string text = "Strategies, written NAME or NAME:KEY=VALUE,... :\n";
  for (const base::VariantInfo& info : sampling::strategies()) {
    text += fmt::format("  {:<17} {}\n", info.name, info.help);
    if (!info.parameters.empty()) text += fmt::format("  {:<17}   {}\n", "", info.parameter_words());
  }
  return text;
}

}  // namespace

void add_sample(App& app) {
  static const auto table = data::subset_params();
  App* command = app.add_subcommand("sample", "Show what a strategy draws at an epoch");
  const auto arguments = std::make_shared<SampleArguments>();
  arguments->source.add_flags(*command);
  command
      ->add_option("--counts", arguments->counts_file,
                   "Classes of your own instead of a data set: the images of each class, one number per line")
      ->type_name("FILE")
      ->excludes("--labels");
  add_param_flags(*command, table, arguments->subset);
  command->add_option("--strategy", arguments->strategy, "The sampling strategy, as below")
      ->check(strategy_check())
      ->capture_default_str();
  command->add_option("--epoch", arguments->epoch, "The epoch, counted from 0")
      ->check(NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--epochs", arguments->epochs, "Epochs of the whole training")
      ->check(PositiveNumber)
      ->capture_default_str();
  command->add_option("--batch-size", arguments->batch, "Images in a batch")
      ->check(PositiveNumber)
      ->capture_default_str();
  command->add_option("--draws", arguments->draws, "Draws to count")
      ->check(PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "Seed of the draws")
      ->check(NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--indices", arguments->indices,
                   "Print so many indices of the stream, one per line, and nothing else")
      ->check(PositiveNumber);
  command->add_option("--per", arguments->per, "A line for each class or for each group")
      ->check(IsMember({"class", "group"}))
      ->capture_default_str();
  command->add_option("--out", arguments->out, "Write the indices of the epoch: FILE.npy or FILE.txt")
      ->type_name("FILE")
      ->excludes("--indices");
  command
      ->add_option("--shard", arguments->shard, "Only the draws of machine I of N, with --out or --indices")
      ->type_name("I/N");
  command->footer(
      strategies_help() +
      "\nExamples:\n"
      "  longtail sample --rho 100 --strategy progressive --epoch 160 --per group\n"
      "  longtail sample --counts counts.txt --strategy power:q=0.25 --batch-size 256\n"
      "  longtail sample --rho 100 --strategy progressive --epoch 160 --out epoch160.npy --shard 1/4\n"
      "  longtail sample --strategy 'deferred:first=uniform,then=progressive(gamma=2),at=160' --epoch 180\n"
      "`absent` is the chance that a batch has no image of the class or group. docs/sampling.md explains "
      "all.");
  command->callback([arguments, command] {
    if (arguments->counts_file.empty()) {
      decide_subset(*command, arguments->source, arguments->subset);
    } else {
      refuse_beside_counts(*command, {"--dataset", "--data", "--skip-unreadable", "--profile", "--rho",
                                      "--n-max", "--counts-file", "--class-order"});
      arguments->subset = data::decided(arguments->subset, "");  // as for the user's own data
    }
    run(*arguments);
  });
}

}  // namespace longtail::cli
