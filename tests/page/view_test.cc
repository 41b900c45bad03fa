// What a reader can do with the page beside looking: send a view to somebody, take the logs out, read the
// notes.
#include "page_fixture.h"

namespace longtail::report {
namespace {

// What a reader sees of the state: what is drawn, what the controls say, what is open.
constexpr const char* kShown =
    "const c = longtail.charts; return [c.curves.data.datasets.filter((d, i) => c.curves.isDatasetVisible(i))"
    ".map(d => d.series + d.data.length), [c.curves.scales.x.min, c.curves.scales.x.max], "
    "c.groups.data.labels, c.groups.data.datasets[0].data, "
    "[...document.querySelectorAll('.chips button')].map(b => b.dataset.value + "
    "b.getAttribute('aria-pressed')), "
    "[...document.querySelectorAll('select')].map(s => s.value), "
    "[...document.querySelectorAll('details')].map(d => d.open), "
    "document.getElementById('zoom-to').value, document.getElementById('class-table').innerText]";

TEST_F(PageTest, AViewInTheAddressIsTheViewThatWasLeft) {
  const json plain = browser_->run(kShown);
  browser_->click("#pick-series button[data-value='class_balanced']");
  browser_->click("#pick-seeds button[data-value='123']");
  browser_->click("#pick-groups button[data-value='head']");
  browser_->click("#pick-condition button[data-value='1']");
  browser_->run(
      "const t = document.getElementById('pick-track'); t.value = 'train_loss'; t.dispatchEvent(new "
      "Event('change'));"
      "const z = document.getElementById('zoom-to'); z.value = 30; z.dispatchEvent(new Event('change'));");
  browser_->click("#class-table th:nth-child(4) button");
  browser_->click("details summary");
  const json left = browser_->run(kShown);
  ASSERT_NE(left, plain);
  const std::string hash = browser_->run("return location.hash");
  EXPECT_THAT(hash, testing::HasSubstr("zoom=1-30"));
  load("index.html" + hash, 1440);
  EXPECT_EQ(browser_->run(kShown), left);
  EXPECT_EQ(browser_->run("return location.hash"), hash);
  // A section's name alone is no view; the reader goes there and the rest is as it opens.
  load("index.html#tables", 1440);
  EXPECT_EQ(browser_->run(kShown), plain);
  EXPECT_LT(std::abs(browser_->run("return document.getElementById('tables').getBoundingClientRect().top")
                         .get<double>()),
            2);
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, ALinkOfAnOpenPageToAnotherViewIsFollowed) {
  const json plain = browser_->run(kShown);
  browser_->run("location.hash = 'series=uniform&zoom=5-20'");
  browser_->run("return new Promise(done => setTimeout(done, 50))");
  EXPECT_EQ(browser_->run("return [...longtail.state.series]"), json({"uniform"}));
  EXPECT_EQ(browser_->run("return longtail.state.zoom"), json({5, 20}));
  browser_->click("nav a[href='#figures']");
  EXPECT_EQ(browser_->run("return [...longtail.state.series]"), json({"uniform"}))
      << "a place changes no view";
  EXPECT_THAT(browser_->run("return location.hash").get<std::string>(), testing::HasSubstr("place=figures"));
}

TEST_F(PageTest, AnAddressOfNonsenseShowsThePlainPage) {
  const json plain = browser_->run(kShown);
  for (const char* hash :
       {"#at=7&track=__proto__&zoom=30-5&sort=99999x&effect=constructor", "#zoom=0-99999&open=%22",
        "#=&&=%&paired=<img src=x onerror=window.pwned=1>", "#place=%3Cscript%3E"}) {
    load(std::string("index.html") + hash, 1440);
    EXPECT_EQ(browser_->run(kShown), plain) << hash;
    EXPECT_THAT(complaints(), testing::IsEmpty()) << hash;
  }
  EXPECT_EQ(browser_->run("return typeof window.pwned"), "undefined");
}

TEST_F(PageTest, TheLogsComeOutOfThePageByteForByte) {
  const test::Folder saved("page_saved");
  browser_->devtools("Browser.setDownloadBehavior",
                     {{"behavior", "allow"}, {"downloadPath", saved.path().string()}});
  browser_->click("#save-logs");
  const std::filesystem::path archive = saved.path() / "logs.tar.gz";
  for (int wait = 0; wait < 200 && !std::filesystem::exists(archive); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(std::filesystem::exists(archive));
  ASSERT_EQ(std::system(("tar -xzf '" + archive.string() + "' -C '" + saved.path().string() + "'").c_str()),
            0);
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(logs_->path())) {
    EXPECT_EQ(base::read_text(saved.path() / entry.path().filename()), base::read_text(entry.path()));
    ++logs;
  }
  EXPECT_EQ(logs, 36);
  EXPECT_THAT(browser_->run("return document.getElementById('logs').textContent").get<std::string>(),
              testing::ContainsRegex("The 36 logs .* [0-9.]+ [kM]B, packed [0-9.]+ [kM]B"));
  // What was saved gives the same page again.
  ReportOptions options;
  std::filesystem::remove(archive);
  options.inputs = {saved.path()};
  options.against_paper = true;
  EXPECT_EQ(page(make_report(options)), base::read_text(out_->path() / "index.html"));
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, AStudyHasItsNameItsSentenceAndItsNotesOnThePage) {
  load("study.html", 1440);
  EXPECT_THAT(complaints(), testing::IsEmpty());
  EXPECT_EQ(browser_->run("return document.querySelector('h1').textContent"),
            "garden birds: sampling strategies");
  EXPECT_EQ(browser_->run("return document.querySelector('.about').textContent"),
            "Do <b>rare</b> birds gain?");
  EXPECT_EQ(browser_->run("return document.querySelector('#notes h3').textContent"), "Camera <2>");
  EXPECT_EQ(browser_->run("return [...document.querySelectorAll('#notes li')].map(l => l.textContent)"),
            json({"<img src=x onerror='window.pwned=1'>", "</section>@DATA@"}));
  EXPECT_EQ(browser_->run("return typeof window.pwned"), "undefined");
  EXPECT_EQ(browser_->run("return document.querySelectorAll('img').length"), 0);
  EXPECT_EQ(browser_->run("return longtail.data.logs.name"), "garden_birds-logs.tar.gz");
}

TEST_F(PageTest, AnAxisOfThreeClassesCountsThem) {
  load("study.html", 1440);
  EXPECT_EQ(browser_->run("return longtail.charts.sizes.scales.x.ticks.map(t => t.label)"),
            json({"1", "2", "3"}));
}

TEST_F(PageTest, BarsOfTheClassTableAreMeasuredAlike) {
  for (const char* file : {"index.html", "study.html"}) {
    for (int width : {390, 1440}) {
      load(file, width);
      const json widths = browser_->run(
          "return [...document.querySelectorAll('#class-table tbody tr:first-child td.bar')].map(td => "
          "Math.round(td.getBoundingClientRect().width))");
      ASSERT_GT(widths.size(), 1u);
      for (const json& one : widths) EXPECT_NEAR(one.get<int>(), widths[0].get<int>(), 1) << file << width;
    }
  }
}

TEST_F(PageTest, WhiskersEndAtNoughtAndAtAHundredPercent) {
  const auto ends = [&](const char* numbers) {
    return browser_->run(std::string("return whiskerEnds(") + numbers + ").map(e => [e.at, e.cut])");
  };
  EXPECT_EQ(ends("40, 2"), json::parse("[[38, false], [42, false]]"));
  EXPECT_EQ(ends("1, 2"), json::parse("[[0, true], [3, false]]"));
  EXPECT_EQ(ends("99, 2"), json::parse("[[97, false], [100, true]]"));
}

TEST_F(PageTest, TheTrainingLossIsOnALogarithmicAxisThatHoldsEveryMean) {
  const auto show = [&](const char* track) {
    browser_->run(std::string("const t = document.getElementById('pick-track'); t.value = '") + track +
                  "'; t.dispatchEvent(new Event('change'));");
    return browser_->run(
        "const c = longtail.charts.curves, y = c.scales.y; return [y.type, y.min, y.max, ...c.data.datasets"
        ".filter(d => !d.band && d.seed === undefined).flatMap(d => d.data.map(p => p.y))]");
  };
  const json loss = show("train_loss");
  EXPECT_EQ(loss[0], "logarithmic");
  ASSERT_GT(loss.size(), 100u);
  for (std::size_t i = 3; i < loss.size(); ++i) {
    EXPECT_GE(loss[i].get<double>(), loss[1].get<double>());
    EXPECT_LE(loss[i].get<double>(), loss[2].get<double>());
  }
  EXPECT_EQ(show("test_acc")[0], "linear");
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, ATableThatIsWiderThanAPhoneSaysThatItScrolls) {
  load("index.html", 390);
  const std::string wrong =
      "return [...document.querySelectorAll('.scroll')].filter(b => b.checkVisibility()).filter(b => "
      "(b.scrollWidth > "
      "b.clientWidth + 1) === b.previousElementSibling.hidden).length";
  EXPECT_EQ(browser_->run(wrong), 0);
  EXPECT_GT(browser_->run("return document.querySelectorAll('.hint:not([hidden])').length"), 3);
  const json more = browser_->run(
      "const b = document.querySelector('#tables .scroll.more'), before = b.classList.contains('more');"
      "b.scrollLeft = 10000; return new Promise(done => setTimeout(() => done([before, "
      "b.classList.contains('more')]), 100))");
  EXPECT_EQ(more, json({true, false}));
  load("index.html", 1440);
  EXPECT_EQ(browser_->run(wrong), 0);
}

TEST_F(PageTest, EverySeedIsAFaintLineBehindTheMean) {
  const json lines = browser_->run(
      "const c = longtail.charts.curves; return c.data.datasets.filter(d => d.series === 'uniform' && d.seed "
      "!== "
      "undefined).map(d => [d.seed, d.data.length, d.borderWidth < 1]).sort((a, b) => a[0] - b[0])");
  EXPECT_EQ(lines, json::parse("[[42, 40, true], [123, 40, true], [456, 40, true]]"));
  browser_->click("#pick-seeds button[data-value='123']");
  EXPECT_EQ(browser_->run("return longtail.charts.curves.data.datasets.filter(d => d.series === 'uniform' && "
                          "d.seed !== undefined).length"),
            2);
}

TEST_F(PageTest, AnyParameterOfAGridCanBeColourRowsOrColumns) {
  load("grid.html", 1440);
  EXPECT_THAT(complaints(), testing::IsEmpty());
  const auto shape = [] {
    return browser_->run(
        "const t = document.getElementById('grid-table'); return [t.tBodies[0].rows.length, "
        "t.tHead.rows[0].cells.length - 1, document.querySelectorAll('#grid-legend span').length, "
        "[...t.querySelectorAll('text')].reduce((n, e) => n + Number(/\\((\\d+)\\)/.exec(e.textContent)[1]), "
        "0)]");
  };
  const auto choose = [](const char* what, const char* key) {
    browser_->run(std::string("const s = document.getElementById('pick-") + what + "'); s.value = '" + key +
                  "'; s.dispatchEvent(new Event('change'));");
  };
  EXPECT_EQ(browser_->run("return [...document.getElementById('pick-rows').options].map(o => o.value)"),
            json({"(none)", "strategy", "gamma", "lr", "model"}));
  choose("rows", "lr");
  choose("columns", "model");
  EXPECT_EQ(shape(), json({3, 2, 2, 24})) << "every run is in one panel";
  choose("colour", "lr");
  choose("rows", "(none)");
  choose("columns", "strategy");
  EXPECT_EQ(shape(), json({1, 2, 3, 24}));
  // The mean of the four runs of a panel's line is the mean of their results.
  const json both = browser_->run(
      "const runs = longtail.data.runs.filter(r => r.strategy === 'uniform' && r.params.lr === '0.05').map(r "
      "=> "
      "r.result.overall); return [runs.length, (runs.reduce((a, b) => a + b) / 4).toFixed(1), "
      "document.querySelector('#grid-table tbody td text').textContent]");
  EXPECT_EQ(both[0], 4);
  EXPECT_THAT(both[2].get<std::string>(), testing::StartsWith(both[1].get<std::string>() + " ± "));
  // The choice is part of the view.
  const std::string hash = browser_->run("return location.hash");
  load("grid.html" + hash, 1440);
  EXPECT_EQ(shape(), json({1, 2, 3, 24}));
  load("index.html", 1440);
  EXPECT_EQ(browser_->run("return document.getElementById('grid').hidden"), true)
      << "strategy and ratio alone";
}

TEST_F(PageTest, TheComparerShowsOnlyWhatDiffers) {
  load(
      "grid.html#left=uniform+%28lr%3D0.1%2C+model%3Dresnet20%29&right=uniform+%28lr%3D0.2%2C+model%"
      "3Dresnet20%29",
      1440);
  const std::string rows =
      "return [...document.querySelectorAll('#compare-table .setting')].map(r => "
      "[...r.cells].slice(0, 3).map(c => c.textContent))";
  EXPECT_EQ(browser_->run(rows), json({{"lr", "0.1", "0.2"}}));
  load(
      "grid.html#left=uniform+%28lr%3D0.1%2C+model%3Dresnet20%29&right=progressive%3Agamma%3D2+%28lr%3D0.1%"
      "2C+model%3Dresnet32%29",
      1440);
  EXPECT_EQ(
      browser_->run(rows),
      json({{"strategy", "uniform", "progressive"}, {"gamma", "–", "2"}, {"model", "resnet20", "resnet32"}}));
  EXPECT_EQ(browser_->run("return document.querySelectorAll('#compare-table tbody tr').length"), 7);
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PageTest, ParallelCoordinatesHaveALineForEverySeriesWhenThreeParametersVary) {
  load("grid.html", 390);
  EXPECT_EQ(browser_->run("return document.querySelectorAll('#parallel polyline').length"), 12);
  EXPECT_EQ(browser_->run("return document.querySelector('#parallel polyline').points.length"), 5);
  EXPECT_LE(browser_->run("return document.documentElement.scrollWidth").get<int>(), 390);
  load("index.html", 1440);
  EXPECT_EQ(browser_->run("return document.querySelectorAll('#parallel polyline').length"), 0);
}

TEST_F(PageTest, LegendAndCellsSayMeanStandardErrorAndNumber) {
  std::vector<double> values;
  for (const auto& row : base::split(base::read_text(out_->path() / "results.csv"), '\n')) {
    const std::vector<std::string> cells = base::split(row, ',');
    if (cells.size() > 3 && cells[0] == "100" && cells[1] == "uniform")
      values.push_back(*base::parse_real(cells[3]));
  }
  ASSERT_EQ(values.size(), 3u);
  const std::string words = fixed(mean(values), 1) + " ± " +
                            fixed(deviation(values, Deviation::kSample) / std::sqrt(3.0), 1) + " (3)";
  EXPECT_EQ(
      browser_->run(
          "return document.querySelector(\"#pick-series button[data-value='uniform'] small\").textContent"),
      words);
  EXPECT_THAT(browser_->run("return document.querySelector('#class-table tbody td.bar').textContent")
                  .get<std::string>(),
              testing::MatchesRegex("[0-9.]+ ± [0-9.]+ \\(3\\)"));
  EXPECT_EQ(
      browser_->run("return [...document.querySelectorAll('#class-files button')].map(b => b.textContent)"),
      json({"CSV", "LaTeX", "Markdown"}));
  EXPECT_THAT(browser_->run("return longtail.data.files.every_class_rho100.csv").get<std::string>(),
              testing::StartsWith("Class,Images,Group,Uniform,Uniform std,"));
}

}  // namespace
}  // namespace longtail::report
