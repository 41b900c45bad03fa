// The page's tests share one browser and the pages that are loaded in it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>

#include "longtail/base/file.h"
#include "longtail/base/hostile_names.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/report/page.h"
#include "longtail/report/report.h"
#include "longtail/report/test_logs.h"
#include "webdriver.h"

namespace longtail::report {

using longtail::test::Browser;
using nlohmann::json;

// One report and one browser for all tests; each test loads the page anew.
class PageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto driver = longtail::test::find_program("chromedriver"),
               chromium = longtail::test::find_program("chromium");
    if (!driver || !chromium) return;
    logs_ = std::make_unique<test::Folder>("page_logs");
    out_ = std::make_unique<test::Folder>("page_out");
    test::write_grid(*logs_, {10, 50, 100}, {42, 123, 456}, 40);
    ReportOptions options;
    options.inputs = {logs_->path()};
    options.out = out_->path();
    options.against_paper = true;
    const Report report = make_report(options);
    options.tables_only = true;  // the figures for print are another test's
    write_report(report, options);
    base::write_atomically(out_->path() / "curves.csv", curves_csv(report.results, options.summary));
    base::write_atomically(out_->path() / "index.html", page(report));
    options.inputs = {std::filesystem::path(LONGTAIL_SOURCE_DIR) / "longtail/report/data/paper_per_seed.csv"};
    base::write_atomically(out_->path() / "csv.html", page(make_report(options)));
    const test::Folder hostile("page_hostile");
    int number = 0;
    for (const std::string& name : base::hostile_names()) {
      if (!base::is_plain(name)) continue;  // a log with it is refused
      train::RunLog log = test::make_log({.strategy = "uniform", .epochs = 6, .classes = 10});
      log.strategy = log.dataset = log.class_names[0] = log.config["loss"] = name;
      hostile.add("run" + std::to_string(number++), log);
    }
    options.inputs = {hostile.path()};
    options.against_paper = false;
    base::write_atomically(out_->path() / "hostile.html", page(make_report(options)));
    write_study_page(options);
    write_grid_page(options);
    browser_ = std::make_unique<Browser>(*driver, *chromium);
    // Nothing can be fetched from now on.
    browser_->devtools("Network.enable", json::object());
    browser_->devtools(
        "Network.emulateNetworkConditions",
        {{"offline", true}, {"latency", 0}, {"downloadThroughput", 0}, {"uploadThroughput", 0}});
  }
  // A study of three classes, with a name and notes that try to break out.
  static void write_study_page(ReportOptions options) {
    const test::Folder study("page_study");
    json runs = json::array();
    for (const char* strategy : {"uniform", "progressive"}) {
      for (const std::int64_t seed : {1, 2}) {
        const std::string name = strategy + ("-" + std::to_string(seed));
        train::RunLog log =
            test::make_log({.strategy = strategy, .seed = seed, .epochs = 6, .classes = 3, .effect = 5});
        log.dataset = "folder:pics/clean/";
        base::make_folder(study.path() / "runs" / name);
        base::write_atomically(study.path() / "runs" / name / "log.json", train::log_text(log));
        runs.push_back({{"name", name}});
      }
    }
    const json record = {{"name", "garden birds"}, {"about", "Do <b>rare</b> birds gain?"}, {"runs", runs}};
    base::write_atomically(study.path() / "study.json", record.dump());
    base::write_atomically(study.path() / "notes.md",
                           std::string_view("# Camera <2>\n\nMoved on day 3.\n- <img src=x "
                                            "onerror='window.pwned=1'>\n- </section>@DATA@\n"));
    options.inputs = {study.path()};
    base::write_atomically(out_->path() / "study.html", page(make_report(options)));
  }
  // A grid over a learning rate and a network beside the strategy: what a run reaches is a sum of the three.
  static void write_grid_page(ReportOptions options) {
    const test::Folder logs("page_grid");
    for (const char* strategy : {"uniform", "progressive:gamma=2"}) {
      for (const char* lr : {"0.05", "0.1", "0.2"}) {
        for (const char* model : {"resnet20", "resnet32"}) {
          for (const std::int64_t seed : {1, 2}) {
            train::RunLog log =
                test::make_log({.strategy = strategy, .seed = seed, .epochs = 4, .classes = 10});
            log.config["lr"] = lr;
            log.config["model"] = model;
            logs.add(std::string(strategy, 7) + lr + model + std::to_string(seed), log);
          }
        }
      }
    }
    options.inputs = {logs.path()};
    base::write_atomically(out_->path() / "grid.html", page(make_report(options)));
  }
  static void TearDownTestSuite() {
    browser_.reset();
    out_.reset();
    logs_.reset();
  }
  void SetUp() override {
    if (!browser_) GTEST_SKIP() << "chromium or chromedriver is not installed; scripts/setup installs them";
    load("index.html", 1440);
  }
  void load(const std::string& file, int width) {
    browser_->resize(width, 900);
    browser_->open("about:blank");  // the same file with another # would not be loaded anew
    browser_->open("file://" + (out_->path() / file).string());
  }
  static std::vector<std::string> complaints() {
    std::vector<std::string> all;
    for (const json& entry : browser_->console()) {
      if (entry["level"] != "DEBUG" && entry["level"] != "INFO") all.push_back(entry["message"]);
    }
    return all;
  }
  // Where a data point is in the viewport, after scrolling to its chart.
  static std::pair<double, double> place(const std::string& chart, const std::string& series, int index) {
    const json at =
        browser_->run("const c = longtail.charts['" + chart +
                      "']; c.canvas.scrollIntoView({block: 'center', behavior: 'instant'});"
                      "const i = c.data.datasets.findIndex(d => d.series === '" +
                      series +
                      "' && !d.band);"
                      "const p = c.getDatasetMeta(i).data[" +
                      std::to_string(index) +
                      "].getProps(['x', 'y'], true);"
                      "const b = c.canvas.getBoundingClientRect(); return [b.left + p.x, b.top + p.y];");
    return {at[0], at[1]};
  }
  static std::string tooltip() {
    return browser_->run("const t = document.getElementById('tooltip'); return t.hidden ? '' : t.innerText;");
  }

  inline static std::unique_ptr<test::Folder> logs_, out_;
  inline static std::unique_ptr<Browser> browser_;
};

}  // namespace longtail::report
