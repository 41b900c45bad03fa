// The report's page as a reader has it: in a browser, without a network. LONGTAIL_SHOTS=FOLDER keeps pictures
// of it.
#include <regex>

#include "page_fixture.h"

namespace longtail::report {
namespace {

// The rows of a CSV as maps from its header.
std::vector<std::map<std::string, std::string>> read_table(const std::filesystem::path& path) {
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> header;
  for (const std::string& line : base::split(base::read_text(path), '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string> cells = base::split(line, ',');
    if (header.empty()) {
      header = cells;
      continue;
    }
    rows.emplace_back();
    for (std::size_t c = 0; c < cells.size(); ++c) rows.back()[header[c]] = cells[c];
  }
  return rows;
}

std::string two_decimals(const std::string& number) { return fixed(*base::parse_real(number), 2); }

// `<!--<script>` in a name once put the whole script of the page into a comment.
TEST_F(PageTest, HostileNamesAreShownAsTextAndRunNothing) {
  load("hostile.html", 1440);
  EXPECT_THAT(complaints(), testing::IsEmpty());
  EXPECT_EQ(browser_->run("return typeof window.pwned"), "undefined");
  EXPECT_EQ(browser_->run("return document.scripts.length"), 3);
  EXPECT_EQ(browser_->run("return document.querySelectorAll('img, iframe, [onerror], [onload], [onfocus], "
                          "[onmouseover]').length"),
            0);
  std::vector<std::string> names;
  for (const std::string& name : base::hostile_names()) {
    if (base::is_plain(name)) names.push_back(name);
  }
  const json shown = browser_->run("return longtail.data.runs.map(r => r.series)");
  ASSERT_EQ(shown.size(), names.size());
  for (const std::string& name : names) {
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [&](const json& series) {
      return series.get<std::string>().starts_with(name);
    })) << name;
  }
  // Every control is pressed once: nothing that is built later runs anything either.
  browser_->run("for (const b of document.querySelectorAll('.chips button, button')) b.click(); return 0;");
  EXPECT_THAT(complaints(), testing::IsEmpty());
  EXPECT_EQ(browser_->run("return typeof window.pwned"), "undefined");
}

TEST_F(PageTest, LoadsOfflineWithoutAWordOnTheConsole) {
  EXPECT_THAT(complaints(), testing::IsEmpty());
  EXPECT_EQ(browser_->run("return performance.getEntriesByType('resource').length"), 0);
  EXPECT_EQ(browser_->run("return Object.keys(longtail.charts).length"), 7);
  EXPECT_EQ(browser_->run("return [...document.querySelectorAll('[src], link[href]')].filter(e => !(e.src || "
                          "e.href).startsWith('data:')).length"),
            0);
}

TEST_F(PageTest, SwitchingAStrategyOffHidesItEverywhereAndOnShowsItAgain) {
  const std::string visible =
      "return Object.fromEntries(Object.entries(longtail.charts).map(([name, c]) => [name, "
      "c.data.datasets.filter((d, i) => "
      "d.series === 'progressive' && c.isDatasetVisible(i)).length]))";
  const json before = browser_->run(visible);
  for (const char* chart : {"groups", "effect", "curves", "paired", "schedule", "classes"})
    EXPECT_GT(before[chart], 0) << chart;
  EXPECT_EQ(browser_->run("return document.querySelectorAll('#class-table th').length"), 7);
  browser_->click("#pick-series button[data-value='progressive']");
  const json after = browser_->run(visible);
  for (const auto& [chart, count] : after.items()) EXPECT_EQ(count, 0) << chart;
  EXPECT_EQ(browser_->run("return document.querySelectorAll('#class-table th').length"), 6);
  EXPECT_EQ(browser_->run("return document.querySelector(\"#pick-series "
                          "button[data-value='progressive']\").getAttribute('aria-pressed')"),
            "false");
  browser_->click("#pick-series button[data-value='progressive']");
  EXPECT_EQ(browser_->run(visible), before);
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, HoveringABarShowsTheValueInTheCsv) {
  const auto [x, y] = place("groups", "progressive", 3);  // tail, at the severest ratio
  browser_->hover(x, y + 4);
  for (const auto& row : read_table(out_->path() / "tables/groups_std_rho100.csv")) {
    if (row.at("Strategy") != "Progressive") continue;
    EXPECT_THAT(tooltip(), testing::HasSubstr("Tail"));
    EXPECT_THAT(tooltip(),
                testing::HasSubstr(two_decimals(row.at("Tail")) + " ± " + two_decimals(row.at("Tail std"))));
  }
}

TEST_F(PageTest, HoveringACurveShowsTheValuesOfItsEpochInTheCsv) {
  const auto [x, y] = place("curves", "uniform", 24);
  browser_->hover(x, y);
  const std::string words = tooltip();
  EXPECT_THAT(words, testing::HasSubstr("Epoch 25"));
  int found = 0;
  for (const auto& row : read_table(out_->path() / "curves.csv")) {
    if (row.at("condition") != "100" || row.at("epoch") != "25") continue;
    EXPECT_THAT(words, testing::HasSubstr(two_decimals(row.at("test_acc")) + " ± " +
                                          two_decimals(row.at("test_acc_std"))));
    ++found;
  }
  EXPECT_EQ(found, 4);
}

TEST_F(PageTest, SwitchingASeedOffLeavesTheMeanOfTheOthers) {
  browser_->click("#pick-seeds button[data-value='123']");
  std::vector<double> left;
  for (const auto& row : read_table(out_->path() / "results.csv")) {
    if (row.at("rho") == "100" && row.at("strategy") == "uniform" && row.at("seed") != "123")
      left.push_back(*base::parse_real(row.at("overall")));
  }
  ASSERT_EQ(left.size(), 2u);
  EXPECT_NEAR(browser_->run("return longtail.charts.groups.data.datasets[0].data[0]").get<double>(),
              (left[0] + left[1]) / 2, 1e-4);
}

TEST_F(PageTest, SwitchingAGroupOffTakesItsBarsAwayAndARatioChangesThem) {
  browser_->click("#pick-groups button[data-value='head']");
  EXPECT_EQ(browser_->run("return longtail.charts.groups.data.labels"), json({"Overall", "Medium", "Tail"}));
  browser_->click("#pick-condition button[data-value='0']");
  EXPECT_EQ(browser_->run("return longtail.charts.groups.data.datasets[0].data[2]"),
            json());  // no tail: not a zero
  EXPECT_EQ(browser_->run("return document.querySelector('.at-condition').textContent"), "ρ = 10");
}

TEST_F(PageTest, AClassWithoutTestImagesHasNoPoint) {
  const std::string points =
      "return longtail.charts.classes.data.datasets.map(d => d.data.filter(p => p.k === 7).length)";
  EXPECT_EQ(browser_->run(points), json({1, 1, 1, 1}));
  browser_->run("for (const r of longtail.data.runs) r.classes[7] = null; return 0;");
  for (int i = 0; i < 2; ++i) browser_->click("#pick-series button[data-value='progressive']");  // drawn anew
  EXPECT_EQ(browser_->run(points), json({0, 0, 0, 0}));
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, DraggingZoomsIntoTheEpochsAndADoubleClickGoesBack) {
  const auto [x1, y1] = place("curves", "uniform", 9);
  const auto [x2, y2] = place("curves", "uniform", 29);
  browser_->drag(x1, y1, x2, y1);
  EXPECT_EQ(
      browser_->run("return [longtail.charts.curves.scales.x.min, longtail.charts.curves.scales.x.max]"),
      json({10, 30}));
  browser_->click("#zoom-reset");
  EXPECT_EQ(
      browser_->run("return [longtail.charts.curves.scales.x.min, longtail.charts.curves.scales.x.max]"),
      json({1, 40}));
}

TEST_F(PageTest, EveryFindingIsWhatItsTableSays) {
  const json findings = browser_->run(
      "return [...document.querySelectorAll('.findings li')].map(li => [li.dataset.series, "
      "li.dataset.metric, li.textContent, li.className])");
  ASSERT_EQ(findings.size(), 33u);  // three strategies, three ratios, four metrics, less three empty tails
  const std::regex form(
      "(Overall|Head|Medium|Tail) accuracy at ρ = (\\d+): .* ([+-]?[0-9.]+) points \\(([+-][0-9.]+) to "
      "([+-][0-9.]+)\\), (above|below) for (\\d) of (\\d) seeds\\.");
  for (const json& finding : findings) {
    const std::string series = finding[0], words = finding[2];
    std::smatch match;
    ASSERT_TRUE(std::regex_search(words, match, form)) << words;
    bool found = false;
    for (const auto& row : read_table(out_->path() / "tables" / ("paired_" + series + ".csv"))) {
      if (row.at("Metric") != match[1] || row.at("ρ") != match[2]) continue;
      found = true;
      const double mean = *base::parse_real(row.at("Mean")), low = std::stod(match[4]),
                   high = std::stod(match[5]);
      EXPECT_NEAR(std::abs(mean), std::abs(std::stod(match[3])), 0.00501) << words;
      EXPECT_EQ(mean > 0 ? "above" : "below", match[6].str()) << words;
      EXPECT_NEAR((low + high) / 2, mean, 0.011) << words;
      int agree = 0, seeds = 0;
      for (const auto& [column, value] : row) {
        if (column.find("Seed ") != 0) continue;
        ++seeds;
        agree += *base::parse_real(value) * mean > 0;
      }
      EXPECT_EQ(std::to_string(agree), match[7].str()) << words;
      EXPECT_EQ(std::to_string(seeds), match[8].str()) << words;
      EXPECT_EQ(finding[3], low > 0 || high < 0 ? "yes" : "no") << words;
    }
    EXPECT_TRUE(found) << words;
  }
}

TEST_F(PageTest, NothingOverflowsOnAPhoneOrOnAWideScreen) {
  for (const char* file : {"index.html", "csv.html"}) {
    for (int width : {390, 1440}) {
      load(file, width);
      browser_->run("for (const d of document.querySelectorAll('details')) d.open = true;");
      EXPECT_LE(browser_->run("return document.documentElement.scrollWidth").get<int>(), width) << file;
      const json outside = browser_->run(
          "return [...document.querySelectorAll('main *, header *, footer *')].filter(e => "
          "!e.closest('.scroll') || e.matches('.scroll'))"
          ".filter(e => { const b = e.getBoundingClientRect(); return b.width > 0 && (b.right > " +
          std::to_string(width) +
          " + 0.5 || b.left < -0.5); }).map(e => e.tagName + '.' + e.className + '#' + e.id)");
      EXPECT_EQ(outside, json::array()) << file << " at " << width;
      if (const char* shots = std::getenv("LONGTAIL_SHOTS")) {
        browser_->run("for (const d of document.querySelectorAll('details')) d.open = false;");
        browser_->screenshot(std::filesystem::path(shots) /
                             (std::string(file) + "_" + std::to_string(width) + ".png"));
      }
    }
  }
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, TheAxisOfTheDifferencesAlwaysShowsZero) {
  for (const char* metric : {"overall", "head", "medium", "tail"}) {
    for (const char* off :
         {"none", "class_balanced", "progressive"}) {  // what is left may lie all on one side
      load("csv.html", 1440);
      browser_->run(std::string("longtail.state.paired = '") + metric + "'; longtail.state.series.delete('" +
                    off + "'); longtail.state.series.delete('square_root'); longtail.update();");
      const json reach = browser_->run(
          "const x = longtail.charts.paired.scales.x; return [x.min, x.max, ...longtail.charts."
          "paired.data.datasets.flatMap(d => d.data.map(p => p.x))]");
      EXPECT_LE(reach[0].get<double>(), 0) << metric << " without " << off;
      EXPECT_GE(reach[1].get<double>(), 0) << metric << " without " << off;
      EXPECT_GT(reach.size(), 2u);
    }
  }
}

TEST_F(PageTest, ACsvShowsWhatItHasAndHidesTheRest) {
  load("csv.html", 1440);
  EXPECT_THAT(complaints(), testing::IsEmpty());
  EXPECT_EQ(browser_->run("return Object.keys(longtail.charts).sort()"),
            json({"effect", "groups", "paired"}));
  EXPECT_EQ(browser_->run("return document.getElementById('classes').hidden"), true);
}

TEST_F(PageTest, TheDarkPageIsDarkAndPrintIsLight) {
  const std::string background = "return getComputedStyle(document.body).backgroundColor";
  const auto media = [&](const char* type, const char* scheme) {
    browser_->devtools(
        "Emulation.setEmulatedMedia",
        {{"media", type}, {"features", {{{"name", "prefers-color-scheme"}, {"value", scheme}}}}});
  };
  media("screen", "dark");
  EXPECT_EQ(browser_->run(background), "rgb(20, 22, 26)");
  if (const char* shots = std::getenv("LONGTAIL_SHOTS"))
    browser_->screenshot(std::filesystem::path(shots) / "dark.png");
  media("print", "dark");
  EXPECT_EQ(browser_->run(background), "rgb(255, 255, 255)");
  EXPECT_EQ(browser_->run("return getComputedStyle(document.querySelector('.controls')).display"), "none");
  media("", "light");
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, AClassCanBeFoundAndSortedBy) {
  browser_->run(
      "const f = document.getElementById('class-filter'); f.value = 'thing_99'; f.dispatchEvent(new "
      "Event('input'));");
  EXPECT_EQ(
      browser_->run(
          "return [...document.querySelectorAll('#class-table tbody tr')].map(r => r.cells[0].textContent)"),
      json({"thing_99"}));
  browser_->run(
      "const f = document.getElementById('class-filter'); f.value = ''; f.dispatchEvent(new "
      "Event('input'));");
  browser_->click("#class-table th:nth-child(4) button");
  const json values = browser_->run(
      "return [...document.querySelectorAll('#class-table tbody tr')].map(r => "
      "parseFloat(r.cells[3].textContent))");
  ASSERT_EQ(values.size(), 100u);
  for (std::size_t i = 1; i < values.size(); ++i)
    EXPECT_GE(values[i - 1].get<double>(), values[i].get<double>());
}

}  // namespace
}  // namespace longtail::report
