#include "longtail/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "longtail/base/quote.h"
#include "longtail/base/text.h"
#include "longtail/data/groups.h"
#include "longtail/report/archive.h"
#include "longtail/report/curves.h"
#include "longtail/report/embedded.h"
#include "longtail/report/figures.h"
#include "longtail/report/report.h"
#include "longtail/report/tables.h"

namespace longtail::report {
namespace {

using nlohmann::json;
using Parts = std::map<std::string, std::string, std::less<>>;

// Four decimals are more than anybody reads, and they keep the page small.
json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1e4) / 1e4;
}
json rounded(const std::vector<double>& values) {
  json list = json::array();
  for (double value : values) list.push_back(rounded(value));
  return list;
}

// A run of the condition that has a log; a finished one if possible.
const RunResult* example_of(const Report& report, const Condition& condition) {
  if (const RunResult* run = report.results.example(condition)) return run;
  for (const RunResult& run : report.under_way) {
    if (run.condition == condition) return &run;
  }
  return nullptr;
}

json condition_json(const Report& report, const Condition& condition) {
  json object = {{"name", condition.text()},    {"title", condition.phrase()}, {"slug", condition.slug()},
                 {"milestones", json::array()}, {"thresholds", json::array()}, {"names", json::array()},
                 {"groups", json::array()}};
  const RunResult* run = example_of(report, condition);
  if (!run) return object;
  object["counts"] = run->log->class_counts;
  object["names"] = run->log->class_names;
  const auto groups = data::Groups::parse(run->log->groups).decided(run->log->class_counts);
  for (const std::int64_t count : run->log->class_counts) {
    object["groups"].push_back(count > 0 ? data::kGroupNames[static_cast<std::size_t>(groups.of(count))]
                                         : "");
  }
  object["thresholds"] = groups.thresholds();
  for (int epoch : milestones(report.results, condition)) object["milestones"].push_back(epoch + 1);
  return object;
}

json run_json(const Results& results, const RunResult& run, At at) {
  const auto index = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) - list.begin();
  };
  json object = {{"series", run.series.text()},
                 {"strategy", run.strategy},
                 {"rho", run.rho},
                 {"condition", index(results.conditions, run.condition)},
                 {"seed", index(results.seeds, run.seed)},
                 {"params", json::object()}};
  for (const std::string& key : results.varying) {
    if (const auto value = run.config.find(key); value != run.config.end())
      object["params"][key] = value->second;
  }
  if (run.under_way) object["under_way"] = true;
  for (Metric metric : kMetrics) {
    object["result"][std::string(metric_name(metric))] =
        run.under_way ? json() : rounded(accuracy(run, metric, at));
  }
  if (!run.log) return object;
  for (Track track : kTracks)
    object["curves"][std::string(track_name(track))] = rounded(track_of(*run.log, track));
  const auto& classes = (at == At::kBest ? run.log->best : run.log->last).per_class;
  if (!classes.empty() && !run.under_way) object["classes"] = rounded(classes);
  return object;
}

// Epochs of the longest run; the planned ones for a run under way.
int epochs_of(const Report& report) {
  int most = std::max(1, report.results.epochs());
  for (const RunResult& run : report.under_way) {
    const auto planned = run.config.find("epochs");
    const auto epochs = planned == run.config.end() ? std::nullopt : base::parse_integer(planned->second);
    most = std::max(
        most, static_cast<int>(std::clamp<std::int64_t>(epochs.value_or(0), run.log->epochs(), 100000)));
  }
  return most;
}

json logs_json(const Report& report, const Archive& archive) {
  std::string name;
  for (const StudyNotes& study : report.notes) name += study.name.empty() ? "" : slug_of(study.name) + "-";
  return {{"name", name + "logs.tar.gz"}, {"packed", base64(archive.packed)}};
}

json data_json(const Report& report, const Archive& archive) {
  const Results& results = report.results;
  const At at = report.summary.options.at;
  json object = {
      {"baseline", report.summary.baseline.text()},
      {"baseline_title", report.summary.baseline.title()},
      {"deviation", report.summary.options.deviation == Deviation::kSample ? "sample" : "population"},
      {"epochs", epochs_of(report)},
      {"seeds", results.seeds},
      {"series", json::array()},
      {"conditions", json::array()},
      {"runs", json::array()},
      {"rate", json::array()},
      {"lambda", json::array()},
      {"files", json::object()},
      {"logs", logs_json(report, archive)},
      {"varying", results.varying},
      {"has_curves", results.has_logs() || !report.under_way.empty()},
      {"has_classes", false},
      {"has_ratios", results.conditions.size() > 1}};
  const std::vector<Look> look = looks(results);
  std::set<std::string> strategies;
  for (std::size_t s = 0; s < results.series.size(); ++s) {
    const Series& series = results.series[s];
    object["series"].push_back({{"name", series.text()},
                                {"title", series.title()},
                                {"colour", look[s].colour},
                                {"dash", look[s].dash},
                                {"point", look[s].point}});
    const std::vector<double> lambda = lambda_of(series.strategy(), epochs_of(report));
    if (!lambda.empty() && strategies.insert(series.strategy()).second) {
      object["lambda"].push_back({{"series", series.text()}, {"values", rounded(lambda)}});
    }
  }
  for (const Condition& condition : results.conditions)
    object["conditions"].push_back(condition_json(report, condition));
  for (const std::vector<RunResult>* runs : {&results.runs, &report.under_way}) {
    for (const RunResult& run : *runs) {
      object["runs"].push_back(run_json(results, run, at));
      if (object["runs"].back().contains("classes")) object["has_classes"] = true;
      if (run.log && object["rate"].empty()) object["rate"] = run.log->lr_history;
    }
  }
  for (const Table& table : report.tables) {
    object["files"][table.id] = {
        {"csv", to_csv(table)}, {"tex", to_latex(table)}, {"md", to_markdown(table)}};
  }
  return object;
}

std::string text_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

// One end of a whisker at x: a cap, or an arrow where the value lies beyond the axis.
std::string whisker_end(double value, double reach, double x) {
  if (std::abs(value) <= reach) return fmt::format("M{:.1f} 7v8", x);
  return fmt::format("M{0:.1f} 7L{1:.1f} 11L{0:.1f} 15", x - std::copysign(5.0, value), x);
}

// A finding, on a scale that all share: the pairs as dots, their difference as a bar, its interval as a
// whisker.
std::string strip(const Comparison& c, double reach, const std::string& colour) {
  const auto x = [&](double value) { return 130 + 122 * std::clamp(value / reach, -1.0, 1.0); };
  std::string out =
      "<svg class=\"strip\" viewBox=\"0 0 260 22\" aria-hidden=\"true\">"
      "<line x1=\"4\" x2=\"256\" y1=\"11\" y2=\"11\" stroke=\"currentColor\" stroke-opacity=\".18\"/>"
      "<line x1=\"130\" x2=\"130\" y1=\"2\" y2=\"20\" stroke=\"currentColor\" stroke-opacity=\".55\"/>";
  if (std::isfinite(c.low)) {
    out += fmt::format(
        "<path class=\"whisker\" d=\"M{:.1f} 11H{:.1f}{}{}\" stroke=\"{}\" stroke-width=\"1.6\" "
        "fill=\"none\"/>",
        x(c.low), x(c.high), whisker_end(c.low, reach, x(c.low)), whisker_end(c.high, reach, x(c.high)),
        colour);
  }
  for (double d : c.differences)
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"11\" r=\"2.8\" fill=\"{}\" fill-opacity=\".5\"/>", x(d),
                       colour);
  return out + fmt::format(
                   "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"4\" y2=\"18\" stroke=\"{1}\" "
                   "stroke-width=\"2.4\"/></svg>",
                   x(c.difference), colour);
}

bool shown_first(Metric metric) { return metric != Metric::kHead && metric != Metric::kMedium; }

// How far the scale reaches for the findings that are shown first, or for the others.
double reach_of(const Summary& summary, bool first) {
  double reach = 0.5;
  for (const Comparison& c : summary.comparisons) {
    if (shown_first(c.metric) != first || !summary.shows(c.metric)) continue;
    for (double d : c.differences) reach = std::max(reach, std::abs(d));
    for (double d : {c.low, c.high}) {
      // An interval from two seeds may be as wide as the page; then the dots say more.
      if (std::isfinite(d)) reach = std::max(reach, std::min(std::abs(d), 30.0));
    }
  }
  return reach;
}

// In the order of the comparisons; with many series by metric, the largest difference first.
std::vector<std::size_t> order_of_findings(const Report& report) {
  const std::vector<Comparison>& all = report.summary.comparisons;
  std::vector<std::size_t> order(report.summary.findings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!many_series(report.results)) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(all[a].metric, -all[a].difference) < std::pair(all[b].metric, -all[b].difference);
  });
  return order;
}

std::string findings_html(const Report& report) {
  const Summary& summary = report.summary;
  const double reach = reach_of(summary, true), reach_of_others = reach_of(summary, false);
  const std::vector<std::size_t> order = order_of_findings(report);
  std::map<Series, std::string> colours;
  const std::vector<Look> look = looks(report.results);
  for (std::size_t s = 0; s < look.size(); ++s)
    colours[report.results.series[s]] = look[s].colour == "#000000" ? "currentColor" : look[s].colour;

  std::string out;
  for (const std::string& lead : summary.leads) out += "<p class=\"lead\">" + html_escape(lead) + "</p>\n";
  for (auto condition = report.results.conditions.rbegin(); condition != report.results.conditions.rend();
       ++condition) {
    std::string main, more;
    for (const std::size_t i : order) {
      const Finding& f = summary.findings[i];
      if (f.condition != *condition || !summary.shows(f.metric)) continue;
      (shown_first(f.metric) ? main : more) += fmt::format(
          "<li class=\"{}\" data-series=\"{}\" data-metric=\"{}\" data-low=\"{}\" data-high=\"{}\"><span "
          "class=\"mark\" "
          "title=\"{}\"></span><span>{}</span>{}</li>\n",
          f.established ? "yes" : "no", html_escape(f.series.text()), metric_name(f.metric),
          fixed(summary.comparisons[i].low, 4), fixed(summary.comparisons[i].high, 4),
          f.established ? "established" : "not established", html_escape(f.sentence),
          strip(summary.comparisons[i], shown_first(f.metric) ? reach : reach_of_others, colours[f.series]));
    }
    if (main.empty() && more.empty()) continue;
    out += "<h3>" + html_escape(condition->phrase()) + "</h3>\n<ul class=\"findings\">" + main + "</ul>\n";
    if (!more.empty())
      out += "<details id=\"more-" + html_escape(condition->slug()) +
             "\"><summary>Head and medium classes</summary><ul class=\"findings\">" + more +
             "</ul></details>\n";
  }
  if (!summary.findings.empty()) {
    out += fmt::format(
        "<p class=\"key\"><span><span class=\"mark yes\"></span>established</span><span><span "
        "class=\"mark\"></span>not "
        "established</span><span>dots: seeds; bar: the difference; whisker: its 95% interval (arrow: beyond "
        "the axis); axis: ±{} "
        "points against {} (head and medium: ±{})</span></p>\n",
        fixed(reach, 1), html_escape(summary.baseline.title()), fixed(reach_of_others, 1));
  }
  if (!summary.remarks.empty()) {
    out += "<ul class=\"remarks\">";
    for (const std::string& remark : summary.remarks) out += "<li>" + html_escape(remark) + "</li>";
    out += "</ul>\n";
  }
  return out;
}

std::string list_section(const std::string& id, const std::string& title,
                         const std::vector<std::string>& sentences, const std::string& after = "") {
  if (sentences.empty() && after.empty()) return "";
  std::string out = "<section id=\"" + id + "\"><h2>" + title + "</h2><ul class=\"plain\">";
  for (const std::string& sentence : sentences) out += "<li>" + html_escape(sentence) + "</li>";
  return out + "</ul>" + after + "</section>\n";
}

std::string code(const std::string& hash) {
  return hash.empty()
             ? "–"
             : "<code title=\"" + html_escape(hash) + "\">" + html_escape(hash.substr(0, 16)) + "</code>";
}

// One row per seed and condition: what its runs share, or how many different ones there are.
std::string fingerprints_html(const Results& results) {
  if (!results.has_logs())
    return "<p>These results came from a CSV, which does not tell how they were made.</p>";
  std::string rows;
  bool shared = true, told = false;
  const auto cell = [&](const std::set<std::string>& values) {
    shared = shared && values.size() <= 1;
    return values.size() == 1 ? code(*values.begin()) : fmt::format("{} different", values.size());
  };
  for (const Condition& condition : results.conditions) {
    for (std::int64_t seed : results.seeds) {
      std::set<std::string> subset, init, engine, version, data;
      int runs = 0;
      for (const RunResult& run : results.runs) {
        if (run.condition != condition || run.seed != seed || !run.log || run.log->fingerprint.subset.empty())
          continue;
        const train::Fingerprint& print = run.log->fingerprint;
        data.insert(print.data);
        subset.insert(print.subset);
        init.insert(print.init);
        engine.insert(print.engine + " " + print.version);
        ++runs;
      }
      if (runs == 0) continue;
      told = true;
      const std::string how = base::join(std::vector<std::string>(engine.begin(), engine.end()), ", ");
      rows += fmt::format(
          "<tr><td class=\"left\">{}</td><td class=\"left\">{}</td><td>{}</td><td class=\"left\">{}</td><td "
          "class=\"left\">{}</td>"
          "<td class=\"left\">{}</td><td class=\"left\">{}</td></tr>",
          html_escape(condition.phrase()), seed, runs, cell(data), cell(subset), cell(init),
          html_escape(how));
    }
  }
  if (!told) return "<p>These logs carry no fingerprints (the paper's published form).</p>";
  return fmt::format(
      "<p>{}</p><div class=\"scroll\"><table><thead><tr><th class=\"left\">Condition</th><th "
      "class=\"left\">Seed</th><th>Runs</th>"
      "<th class=\"left\">Data</th><th class=\"left\">Subset</th><th class=\"left\">Initial weights</th><th "
      "class=\"left\">Engine</th></tr></thead>"
      "<tbody>{}</tbody></table></div>",
      shared ? "Within each seed every strategy had the same training images and the same initial weights: "
               "the pairs are true pairs."
             : "Within some seeds the runs had different images or initial weights: those pairs differ in "
               "more than the strategy.",
      rows);
}

std::string about_html(const std::vector<StudyNotes>& notes) {
  std::string out;
  for (const StudyNotes& study : notes) {
    if (!study.about.empty()) out += "<p class=\"about\">" + html_escape(study.about) + "</p>";
  }
  return out;
}

std::string notes_section(const std::vector<StudyNotes>& notes) {
  std::string out;
  for (const StudyNotes& study : notes) out += notes_html(study.notes);
  return out.empty() ? "" : "<section id=\"notes\"><h2>Notes</h2>" + out + "</section>\n";
}

// What the archive holds and how large it is; the script makes the button.
std::string logs_html(const Archive& archive) {
  std::string out;
  if (!archive.packed.empty()) {
    out = fmt::format(
        "<p id=\"logs\">The {} this page was made from {} in it, byte for byte: {}, packed {}. <button "
        "id=\"save-logs\" type=\"button\">Save the logs</button> <span class=\"note\">Unpack them into a "
        "folder, and <code>longtail report FOLDER</code> makes this report again.</span></p>",
        archive.logs == 1 ? "log" : fmt::format("{} logs", archive.logs), archive.logs == 1 ? "is" : "are",
        bytes_words(archive.bytes), bytes_words(archive.packed.size()));
  }
  return archive.remark.empty() ? out : out + "<p>" + html_escape(archive.remark) + "</p>";
}

// Puts each part in its place in one pass: the contents of a part are never searched for places.
std::string filled(std::string_view html, const Parts& parts) {
  std::string out;
  while (!html.empty()) {
    const std::size_t start = html.find('@');
    const std::size_t end = start == std::string_view::npos ? start : html.find('@', start + 1);
    if (end == std::string_view::npos) break;
    const auto part = parts.find(html.substr(start + 1, end - start - 1));
    out += html.substr(0, start);
    if (part == parts.end()) {
      out += '@';
      html.remove_prefix(start + 1);
    } else {
      out += part->second;
      html.remove_prefix(end + 1);
    }
  }
  return out.append(html);
}

std::string script() {
  std::string all;
  for (const char* name : {"charts.js", "classes.js", "view.js", "grid.js", "live.js", "page.js"})
    all += embedded(name);
  return all;
}

// The parts of a page that change while a study runs, by the ids of their elements.
Parts changing_parts(const Report& report, const Live* live) {
  std::string tables;
  for (const Table& table : report.tables) {
    // Every class is in the explorer, which offers its table as files.
    if (!table.id.starts_with("against") && !table.id.starts_with("every_class_")) tables += to_html(table);
  }
  const std::string none = report.results.runs.empty() ? "<p>No run is finished yet.</p>" : "";
  const std::string facts =
      none.empty() ? report_facts(report.results) : fmt::format("{} under way", report.under_way.size());
  return {{"facts", html_escape(facts)},
          {"part-findings", none.empty() ? findings_html(report) : none},
          {"part-tables", tables},
          {"part-protocol", none.empty() ? fingerprints_html(report.results) : none},
          {"part-warnings", list_section("warnings", "Warnings", report.results.warnings)},
          {"part-progress", live ? live->progress : ""}};
}

json data_of(const Report& report, const Archive& archive, const Live* live) {
  json data = data_json(report, archive);
  if (live) {
    data["live"] = true;
    data["version"] = live->version;
  }
  return data;
}

std::string whole_page(const Report& report, const Archive& archive, const Live* live) {
  std::string against;
  for (const Table& table : report.tables) {
    if (table.id.starts_with("against")) against += to_html(table);
  }
  Parts parts = changing_parts(report, live);
  const auto& warnings = report.results.warnings;
  const std::string title = report_title(report), notes = notes_section(report.notes);
  return filled(
      embedded("page.html"),
      {{"TITLE", html_escape(title)},
       {"HEADING", html_escape(title)},
       {"KICKER", live ? "Longtail study, live" : "Longtail report"},
       {"CONNECT", live ? "'self'" : "'none'"},
       {"FACTS", parts["facts"]},
       {"ABOUT", about_html(report.notes)},
       {"NOTES", notes},
       {"NOTESLINK", notes.empty() ? "" : "<a href=\"#notes\">Notes</a>"},
       {"LOGS", logs_html(archive)},
       {"STYLE", std::string(embedded("page.css"))},
       {"CHART", std::string(embedded("chart.min.js"))},
       {"SCRIPT", script()},
       {"DATA", base::quote::json_in_html(text_of(data_of(report, archive, live)))},
       {"PROGRESS", parts["part-progress"]},
       {"FINDINGS", parts["part-findings"]},
       {"TABLES", parts["part-tables"]},
       {"AGAINST", list_section("against", "Beside the published results", report.against, against)},
       {"AGAINSTLINK", report.against.empty() ? "" : "<a href=\"#against\">Beside the paper</a>"},
       {"PROTOCOL", parts["part-protocol"]},
       {"WARNINGLINK",
        warnings.empty() ? "" : fmt::format("<a href=\"#warnings\">Warnings ({})</a>", warnings.size())},
       {"WARNINGS", parts["part-warnings"]},
       {"FOOTER", "Made by longtail report. Charts by Chart.js."}});
}

// A live page has no archive: the logs are still being written, and the page is rebuilt at every epoch.
const Archive kNoArchive{.remark =
                             "The logs are not in this live page; longtail report makes one that has them."};

}  // namespace

std::string page(const Report& report) { return whole_page(report, pack_logs(report.results), nullptr); }

std::string live_page(const Report& report, const Live& live) {
  return whole_page(report, kNoArchive, &live);
}

std::string live_state(const Report& report, const Live& live) {
  return text_of({{"data", data_of(report, kNoArchive, &live)}, {"parts", changing_parts(report, &live)}});
}

}  // namespace longtail::report
