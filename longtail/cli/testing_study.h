// A study that a test can run in seconds: tiny images, twelve runs by default.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "longtail/base/file.h"
#include "longtail/cli/testing.h"
#include "longtail/cli/testing_tiny_data.h"

namespace longtail::cli {

class TinyStudy : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "data");
    write_tiny_data(folder_ / "data", "train", 160, 1);
    write_tiny_data(folder_ / "data", "t10k", 40, 2);
    write_study(
        "seed = [1, 2, 3]\nstrategy = [\"uniform\", \"class_balanced\", \"square_root\", \"progressive\"]\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write_study(const std::string& grid) {
    const std::string epochs = grid.find("epochs") == std::string::npos ? "epochs = 2\n" : "";
    base::write_atomically(
        file(),
        "[data]\ndataset = \"idx:" + (folder_ / "data").string() +
            "\"\nprofile = \"exp\"\nn_max = 40\nrho = 8\ngroups = \"30,15\"\n[model]\nmodel = \"resnet20\"\n"
            "[train]\nbatch_size = 16\nwarmup_epochs = 1\n" +
            epochs + "[grid]\n" + grid);
  }
  std::string file() const { return (folder_ / "tiny.toml").string(); }
  std::string out(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> run_arguments(const std::string& name) const {
    return {"study", "run", file(), "--out", out(name), "--jobs", "2"};
  }
  Outcome run(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = run_arguments(name);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  pid_t start(const std::string& name) const {
    return start_program(run_arguments(name), folder_ / "stdout", folder_ / "stderr");
  }
  std::filesystem::path a_run(const std::string& name, const std::string& beginning) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name / "runs")) {
      if (entry.path().filename().string().starts_with(beginning)) return entry.path();
    }
    return {};
  }
  // The log of every run, by the name of the run.
  std::map<std::string, std::string> logs(const std::string& name) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name / "runs")) {
      const std::filesystem::path log = entry.path() / "log.json";
      all[entry.path().filename().string()] = std::filesystem::exists(log) ? base::read_text(log) : "(none)";
    }
    return all;
  }
  static int count(const std::string& text, const std::string& word) {
    int found = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  }
  static void damage(const std::filesystem::path& path) {
    std::string bytes = base::read_text(path);
    bytes[bytes.size() / 2] ^= 1;
    base::write_atomically(path, bytes);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("longtail-study-" + std::to_string(::getpid()));
};

}  // namespace longtail::cli
