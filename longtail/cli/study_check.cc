// longtail study check: shows what a study would do and how long it would take; changes nothing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/base/threads.h"
#include "longtail/cli/study.h"
#include "longtail/data/registry.h"
#include "longtail/study/estimate.h"
#include "longtail/study/folder.h"
#include "longtail/study/grid.h"

namespace longtail::cli {
namespace {

struct CheckFlags {
  StudyFlags study;
  std::string out;
  bool no_time = false;
  bool seconds = false;
};

// The parameters that all runs share, one per line; strategy, rho and seed are in the line of each run.
void print_shared(const std::vector<study::PlannedRun>& runs, std::vector<std::string>& varied) {
  fmt::print("\nThe same in every run:\n");
  // With natural class sizes, ratio and order have no meaning.
  const bool cut = std::any_of(runs.begin(), runs.end(), [](const study::PlannedRun& run) {
    return data::takes_ratio(run.config.subset);
  });
  for (const auto& entry : train::run_params().entries()) {
    const std::string& name = entry.info.name;
    const bool idle = !cut && (name == "rho" || name == "n_max" || name == "class_order");
    if (!entry.info.identity || idle) continue;
    std::set<std::string> values;
    for (const study::PlannedRun& run : runs) values.insert(entry.get(run.config));
    if (values.size() > 1) {
      varied.push_back(entry.info.name);
    } else {
      fmt::print("  {:<14} {}\n", entry.info.name, values.begin()->empty() ? "(none)" : *values.begin());
    }
  }
}

void print_runs(const std::vector<study::PlannedRun>& runs, const std::vector<std::string>& varied,
                const std::vector<study::RunSize>& sizes, const std::optional<study::Estimate>& estimate,
                const CheckFlags& flags) {
  std::size_t width = 0;
  for (const study::PlannedRun& run : runs) width = std::max(width, run.name.size());
  fmt::print("\nThe runs, in this order:\n");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::string line = fmt::format("  {:>3}  {:<{}}", i + 1, runs[i].name, width);
    for (const std::string& name : varied) {
      line += fmt::format("  {} {}", name, train::run_params().find(name)->get(runs[i].config));
    }
    if (!sizes.empty()) {
      line += fmt::format("  {} images, {} step{} per epoch", base::with_commas(sizes[i].images),
                          sizes[i].steps, sizes[i].steps == 1 ? "" : "s");
    }
    if (estimate) line += ", " + base::duration(estimate->seconds[i]);
    if (!flags.out.empty())
      line += fmt::format("  {}", study::word(study::inspect(flags.out, runs[i]).status));
    fmt::print("{}\n", line);
  }
}

void print_time(const study::Estimate& estimate, const std::vector<study::PlannedRun>& runs,
                const CheckFlags& flags) {
  double all = 0, left = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all += estimate.seconds[i];
    const bool done = !flags.out.empty() && study::inspect(flags.out, runs[i]).status == study::Status::kDone;
    if (!done) left += estimate.seconds[i];
  }
  fmt::print(
      "\nMeasured here on {} CPUs: a step of {} images takes {:.1f} ms, evaluation does {} images a "
      "second.\n",
      base::available_cpus(), runs[0].config.batch_size, 1e3 * estimate.step_seconds,
      base::with_commas(static_cast<std::int64_t>(estimate.images_per_second)));
  fmt::print("All runs one after the other: about {}.", base::duration(all));
  if (left < all) fmt::print(" What is left of them: about {}.", base::duration(left));
  fmt::print("\n");
  double load = 0;
  if (::getloadavg(&load, 1) == 1 && load > 0.5 * base::available_cpus()) {
    fmt::print("The machine was busy (load {:.1f}); it is faster when it is not.\n", load);
  }
}

// Lists published data whose sizes are known but whose files are not here yet.
void print_missing(const std::vector<study::PlannedRun>& runs, const std::string& folder) {
  std::set<std::pair<std::string, std::string>> places;  // --data overrides the file
  for (const study::PlannedRun& run : runs) {
    places.emplace(run.config.dataset, folder.empty() ? run.config.data : folder);
  }
  for (const auto& [name, place] : places) {
    const auto* published = data::find_published(name);
    if (published && !data::find_data(*published, place)) {
      fmt::print("The files of {0} are not here yet; `longtail data fetch {0}` gets them.\n", name);
    }
  }
}

void check(const CheckFlags& flags) {
  const study::StudyFile file = flags.study.read();
  const std::string engine = study::engine_of(file, flags.out);
  const std::vector<study::PlannedRun> runs = study::resolve(file, engine);
  if (flags.seconds) {
    if (file.trainer)
      base::fail("no estimate of the time: the runs are done by a trainer, and how fast it is only it knows");
    double all = 0;
    for (const double one : study::estimate(runs, study::run_sizes(runs, flags.study.data), 0).seconds)
      all += one;
    fmt::print("{:.0f}\n", all);
    return;
  }
  fmt::print("study {}: {} runs {}\n", file.name, runs.size(),
             file.trainer ? "of the trainer `" + base::join(file.trainer->command, " ") + "`"
                          : "on the engine " + engine);
  if (!file.about.empty()) fmt::print("{}\n", file.about);
  std::vector<std::string> varied;
  print_shared(runs, varied);
  if (file.trainer) {  // only the trainer knows what it reads and how fast it is
    print_runs(runs, varied, {}, std::nullopt, flags);
    return;
  }
  const std::vector<study::RunSize> sizes = study::run_sizes(runs, flags.study.data);
  std::optional<study::Estimate> estimate;
  if (!flags.no_time) {
    try {
      estimate = study::estimate(runs, sizes, 0);
    } catch (const base::Error& error) {  // for example, this machine cannot run the engine
      fmt::print("\nNo estimate of the time: {}\n", error.what());
    }
  }
  print_runs(runs, varied, sizes, estimate, flags);
  if (estimate) print_time(*estimate, runs, flags);
  print_missing(runs, flags.study.data);
}

}  // namespace

void add_study_check(App& app) {
  App* command =
      app.add_subcommand("check", "List the runs of a study and estimate their time; changes nothing");
  const auto flags = std::make_shared<CheckFlags>();
  add_study_flags(*command, flags->study, true);
  command->add_option("--out", flags->out, "Say also what is done in this folder");
  command->add_flag("--no-time", flags->no_time, "Without the measurement");
  command
      ->add_flag("--seconds", flags->seconds,
                 "Print only the seconds that all runs would take one after the other, for scripts")
      ->excludes("--no-time");
  command->callback([flags] { check(*flags); });
}

}  // namespace longtail::cli
