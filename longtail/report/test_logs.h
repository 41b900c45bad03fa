// Synthetic logs with known effects, for the tests of this module and of the program.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/base/philox.h"
#include "longtail/data/groups.h"
#include "longtail/train/run_log.h"

namespace longtail::report::test {

// Normal-ish noise: a pure function of its keys, so that a log is the same every time.
inline double noise(std::uint64_t seed, std::uint32_t stream, std::uint64_t position) {
  const base::Stream source{.seed = seed, .purpose = base::Purpose::kTest, .epoch = stream};
  double sum = 0;
  for (std::uint32_t word : source.block(position)) sum += static_cast<double>(word) * 0x1.0p-32 - 0.5;
  return sum * std::sqrt(3.0);
}

// The texts of series or conditions.
std::vector<std::string> texts(const auto& keys) {
  std::vector<std::string> all;
  all.reserve(keys.size());
  for (const auto& key : keys) all.push_back(key.text());
  return all;
}

struct LogSpec {
  std::string strategy = "uniform";
  double rho = 100;
  std::int64_t seed = 42;
  int epochs = 200;
  int classes = 100;
  double effect = 0;  // points added to every class of the tail, over uniform
};

inline train::EpochResult measure(const std::vector<double>& per_class,
                                  const std::vector<data::Group>& groups) {
  std::array<double, 3> sum{}, count{};
  double all = 0;
  for (std::size_t k = 0; k < per_class.size(); ++k) {
    sum[static_cast<std::size_t>(groups[k])] += per_class[k];
    count[static_cast<std::size_t>(groups[k])] += 1;
    all += per_class[k];
  }
  const auto mean = [&](std::size_t g) {
    return count[g] > 0 ? sum[g] / count[g] : std::numeric_limits<double>::quiet_NaN();
  };
  return {all / static_cast<double>(per_class.size()), mean(0), mean(1), mean(2), 2.0};
}

inline train::RunLog make_log(const LogSpec& spec) {
  train::RunLog log;
  log.dataset = "cifar100";
  log.strategy = spec.strategy;
  log.rho = spec.rho;
  log.seed = spec.seed;
  for (int k = 0; k < spec.classes; ++k) {
    const double n = 500 * std::pow(std::pow(spec.rho, -1.0 / (spec.classes - 1)), k);
    log.class_counts.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(n)));
    log.class_names.push_back("thing_" + std::to_string(k));
  }
  const auto groups = data::Groups::parse("paper").of(log.class_counts);
  const auto sizes = data::Groups::parse("paper").sizes(log.class_counts);
  log.group_sizes.assign(sizes.begin(), sizes.end());
  log.config = {{"dataset", "cifar100"},
                {"model", "resnet32"},
                {"shortcut", "projection"},
                {"augment", "crop_flip"},
                {"loss", "cross_entropy"},
                {"epochs", std::to_string(spec.epochs)},
                {"lr", "0.1"},
                {"nesterov", "true"},
                {"strategy", spec.strategy},
                {"seed", std::to_string(spec.seed)},
                {"batch_size", "128"}};
  std::uint32_t own = 1;
  for (char c : spec.strategy) own = own * 31 + static_cast<unsigned char>(c);
  const auto shared_seed = static_cast<std::uint64_t>(spec.seed);
  std::vector<double> best_classes, last_classes;
  for (int e = 0; e < spec.epochs; ++e) {
    const bool late = e >= spec.epochs * 8 / 10;
    const double progress = late ? 1 : 0.7 * (1 - std::exp(-8.0 * (e + 1) / spec.epochs));
    std::vector<double> per_class;
    for (std::size_t k = 0; k < log.class_counts.size(); ++k) {
      const double base = 15 + 10 * std::log2(1 + static_cast<double>(log.class_counts[k]) / 10) +
                          5 * noise(shared_seed, 7, k) + (groups[k] == data::Group::kTail ? spec.effect : 0);
      const double wobble = 0.5 * noise(shared_seed, own, static_cast<std::uint64_t>(e) * 1000 + k);
      per_class.push_back(std::clamp(std::round(100 * (progress * base + wobble)) / 100, 0.0, 100.0));
    }
    const train::EpochResult result = measure(per_class, groups);
    if (log.test_acc.empty() || result.overall > log.best.accuracy.overall) {
      log.best_epoch = e;
      log.best.accuracy = result;
      log.best.epoch = e;
      best_classes = per_class;
    }
    last_classes = per_class;
    log.last.accuracy = result;
    log.last.epoch = e;
    log.test_acc.push_back(result.overall);
    log.head_acc.push_back(result.head);
    log.medium_acc.push_back(result.medium);
    log.tail_acc.push_back(result.tail);
    log.test_loss.push_back(4 - 2 * progress);
    log.train_loss.push_back(4.6 * std::exp(-4.0 * e / spec.epochs) +
                             0.02 * (1 + noise(shared_seed, own, 900000 + static_cast<std::uint64_t>(e))));
    log.train_acc.push_back(90 * progress);
    log.lr_history.push_back(late ? 0.001 : 0.1);
  }
  log.best.per_class = best_classes;
  log.last.per_class = last_classes;
  for (train::FullResult* result : {&log.best, &log.last}) {
    result->balanced = 0;
    for (const double one : result->per_class)
      result->balanced += one / static_cast<double>(result->per_class.size());
  }
  log.fingerprint = {"data",
                     "subset-" + std::to_string(spec.seed),
                     "init-" + std::to_string(spec.seed),
                     "augment",
                     "protocol",
                     "onednn",
                     "0.1.0"};
  log.finished = true;
  return log;
}

// A folder that is empty at the start and gone at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("longtail_" + name + "." + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void add(const std::string& name, const train::RunLog& log) const {
    base::write_atomically(path_ / (name + ".json"), train::log_text(log));
  }

 private:
  std::filesystem::path path_;
};

// A log as the paper published them: no schema, no fingerprint, zeros for an empty group, its own names for
// parameters, `final_*` for the best epoch. The name is the paper's too.
inline void add_published(const Folder& folder, const train::RunLog& log) {
  nlohmann::json json = train::to_json(log);
  for (const char* key : {"schema", "dataset", "groups", "group_sizes", "class_names", "selected_on",
                          "best_epoch", "best", "last", "finished", "fingerprint"}) {
    json.erase(key);
  }
  json["config"] = {{"epochs", log.epochs()},
                    {"batch_size", 128},
                    {"lr", 0.1},
                    {"momentum", 0.9},
                    {"weight_decay", 0.0002},
                    {"warmup_epochs", 5},
                    {"lr_milestones", {160, 180}},
                    {"lr_gamma", 0.01},
                    {"grad_clip", 5.0},
                    {"num_workers", 2},
                    {"strategies", {"uniform", "class_balanced", "square_root", "progressive"}},
                    {"imbalance_ratios", {10, 50, 100}},
                    {"seeds", {42, 123, 456}},
                    {"save_dir", "./results"},
                    {"figure_dir", "./figures"}};
  for (auto& value : json["tail_acc"]) {
    if (value.is_null()) value = 0.0;
  }
  if (json["final_tail_acc"].is_null()) json["final_tail_acc"] = 0.0;
  base::write_atomically(
      folder.path() / ("results_" + log.strategy + "_rho" + std::to_string(static_cast<int>(log.rho)) +
                       "_seed" + std::to_string(log.seed) + ".json"),
      json.dump());
}

inline constexpr const char* kNoLatex =
    "pdflatex is not installed, so the LaTeX tables were written but not compiled; scripts/setup --tests "
    "installs it";
inline bool has_latex() { return std::system("command -v pdflatex >/dev/null") == 0; }
// Compiles all.tex of a folder of tables; empty if it went well and nothing is wider than the page.
inline std::string latex_complaint(const std::filesystem::path& tables) {
  const std::string command = "cd '" + tables.string() +
                              "' && pdflatex -interaction=nonstopmode -halt-on-error all.tex >log.txt 2>&1";
  const bool compiled = std::system(command.c_str()) == 0;
  const std::string log = base::read_text(tables / "log.txt");
  return compiled && log.find("Overfull") == std::string::npos ? "" : log;
}

// The grid of the paper: four strategies, the given ratios and seeds.
inline void write_grid(const Folder& folder, const std::vector<double>& ratios,
                       const std::vector<std::int64_t>& seeds, int epochs = 20, int classes = 100) {
  for (double rho : ratios) {
    for (std::int64_t seed : seeds) {
      for (const auto& [strategy, effect] : {std::pair("uniform", 0.0), std::pair("class_balanced", -3.0),
                                             std::pair("square_root", 0.1), std::pair("progressive", 4.0)}) {
        folder.add(
            std::string(strategy) + "_" + std::to_string(static_cast<int>(rho)) + "_" + std::to_string(seed),
            make_log({strategy, rho, seed, epochs, classes, effect}));
      }
    }
  }
}

}  // namespace longtail::report::test
