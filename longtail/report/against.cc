#include "longtail/report/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/report/embedded.h"
#include "longtail/train/config.h"

namespace longtail::report {
namespace {

// A line of the field's data file; a cell in quotes may hold commas.
std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

struct Baseline {
  std::string name{}, source{};
  double rho = 0, overall = 0;
  std::map<std::string, std::string> protocol{};
};

std::vector<Baseline> field_baselines() {
  std::vector<Baseline> all;
  std::vector<std::string> header;
  for (const std::string& line : base::split(embedded("field.csv"), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = csv_cells(line);
    if (header.empty()) {
      header = cells;
      continue;
    }
    Baseline one{.name = cells.at(0),
                 .source = cells.at(7),
                 .rho = base::parse_real(cells.at(1)).value(),
                 .overall = base::parse_real(cells.at(2)).value()};
    for (std::size_t c = 3; c < 6; ++c) one.protocol[header[c]] = cells.at(c);
    one.protocol["dataset"] = "cifar100";
    one.protocol["loss"] = "cross_entropy";
    one.protocol["model"] = "resnet32";
    one.protocol["width"] = "1";
    one.protocol["head"] = "linear";
    one.protocol["image_size"] = "32";
    one.protocol["n_max"] = "500";
    one.protocol["rebalance"] = "none";
    all.push_back(std::move(one));
  }
  return all;
}

bool same_value(const std::string& a, const std::string& b) {
  const auto x = base::parse_real(a), y = base::parse_real(b);
  return x && y ? std::abs(*x - *y) <= 1e-12 * std::abs(*x) : a == b;
}

}  // namespace

std::map<std::string, std::string> protocol_of(const RunResult& run) {
  std::map<std::string, std::string> protocol = run.config;
  if (!run.log && !run.condition.data().empty()) protocol["dataset"] = run.condition.data();
  if (!run.log) return protocol;
  protocol["epochs"] = std::to_string(run.log->trained_epochs());
  const bool ours = run.log->schema > 0;  // the paper's logs leave out unknown values, not defaults
  for (const auto& entry : train::run_params().entries()) {
    if (ours && !entry.info.omitted.empty()) protocol.emplace(entry.info.name, entry.info.omitted);
  }
  // 0 means as many as the data set has.
  const auto& counts = run.log->class_counts;
  if (const auto n_max = protocol.find("n_max");
      n_max != protocol.end() && n_max->second == "0" && !counts.empty())
    n_max->second = std::to_string(*std::max_element(counts.begin(), counts.end()));
  return protocol;
}

namespace {

const RunResult* any_run(const Results& results, const Series& series, const Condition& condition) {
  for (const RunResult& run : results.runs) {
    if (run.series == series && run.condition == condition) return &run;
  }
  return nullptr;
}

// Each reason for a refusal once, with the cells it concerns.
void add_refusal(std::map<std::string, std::vector<std::string>>& refused, const std::string& what,
                 const std::vector<std::string>& differences) {
  refused[base::join(differences, ", ")].push_back(what);
}

std::vector<std::string> refusal_sentences(const std::map<std::string, std::vector<std::string>>& refused,
                                           const std::string& whom) {
  std::vector<std::string> sentences;
  for (const auto& [why, what] : refused) {
    const std::string which = what.size() > 4 ? fmt::format("{} and {} more", what.front(), what.size() - 1)
                                              : base::join(what, "; ");
    sentences.push_back(fmt::format("Not compared with {}: {}. The protocol differs: {}.", whom, which, why));
  }
  return sentences;
}

// Of the claims with the same verdict, how many rest on fewer seeds than the paper's.
std::string so_far_words(int count, int partial) {
  if (partial == 0) return "";
  return partial == count ? " so far" : fmt::format(" ({} of them so far)", partial);
}

std::string count_of(const std::vector<Claim>& claims) {
  std::map<Verdict, int> counts, partial;
  for (const Claim& claim : claims) {
    ++counts[claim.ours.verdict];
    partial[claim.ours.verdict] += claim.ours.partial;
  }
  const int hold = counts[Verdict::kHolds], fail = counts[Verdict::kFails];
  return fmt::format("Of the paper's {} claims {} {}{}, {} {} not{}, {} cannot be told.", claims.size(), hold,
                     hold == 1 ? "holds" : "hold", so_far_words(hold, partial[Verdict::kHolds]), fail,
                     fail == 1 ? "does" : "do", so_far_words(fail, partial[Verdict::kFails]),
                     counts[Verdict::kOpen]);
}

// The cell farthest from the paper's.
struct Farthest {
  double points = 0;
  std::string where{};
  void take(double candidate, const std::string& cell) {
    if (std::abs(candidate) <= std::abs(points)) return;
    points = candidate;
    where = cell;
  }
  std::string words() const {
    return std::abs(points) < 0.005 ? "" : fmt::format(" ({} for {})", fixed(points, 2, true), where);
  }
};

}  // namespace

Results paper_results() {
  std::vector<std::string> warnings;
  auto runs = read_csv(embedded("paper_per_seed.csv"), "the paper", warnings);
  return detail::arrange(std::move(runs), std::move(warnings), {});
}

const std::map<std::string, std::string>& paper_protocol() {
  static const std::map<std::string, std::string> protocol = {
      {"dataset", "cifar100"},   {"profile", "exp"},         {"n_max", "500"},
      {"counts_file", ""},       {"class_order", "label"},   {"image_size", "32"},
      {"model", "resnet32"},     {"shortcut", "projection"}, {"width", "1"},
      {"head", "linear"},        {"augment", "crop_flip"},   {"loss", "cross_entropy"},
      {"epochs", "200"},         {"batch_size", "128"},      {"lr", "0.1"},
      {"momentum", "0.9"},       {"weight_decay", "0.0002"}, {"clip", "5"},
      {"schedule", "multistep"}, {"warmup_epochs", "5"},     {"milestones", "160,180"},
      {"lr_decay", "0.01"},      {"val_fraction", "0"},      {"select", "overall"},
      {"rebalance", "none"}};
  return protocol;
}

std::vector<std::string> protocol_differences(const std::map<std::string, std::string>& ours,
                                              const std::map<std::string, std::string>& theirs) {
  const auto shown = [](const std::string& value) { return value.empty() ? "none" : value; };
  std::vector<std::string> differences;
  for (const auto& [key, value] : theirs) {
    const auto found = ours.find(key);
    if (found != ours.end() && !same_value(found->second, value)) {
      differences.push_back(fmt::format("{} ({} there, {} here)", key, shown(value), shown(found->second)));
    }
  }
  return differences;
}

namespace {

// The paper's cells for which there are runs, one row per metric.
class Cells {
 public:
  Cells(const Results& paper, const Results& ours, const SummaryOptions& options)
      : paper_(paper), ours_(ours), options_(options), paper_options_(options) {
    paper_options_.at = At::kBest;
    table_.columns = {{"ρ", true, true}, {"Strategy", true, true},
                      {"Metric", true},  {"Paper"},
                      {"Ours"},          {"Seeds"},
                      {"Points"},        {"Seed std"}};
    for (const Condition& condition : ours.conditions) {
      for (const Series& series : ours.series) add(series, condition);
    }
    add_notes();
  }
  const Table& table() const { return table_; }
  std::vector<std::string> refusals() const { return refusal_sentences(refused_, "the paper"); }
  std::string farthest() const {
    return fmt::format(
        "Against the paper: overall accuracy is within {} points in every cell compared{}, a group's within "
        "{}{}.",
        fixed(std::abs(overall_.points), 2), overall_.words(), fixed(std::abs(group_.points), 2),
        group_.words());
  }

 private:
  void add(const Series& series, const Condition& condition) {
    const RunResult* run = any_run(ours_, series, condition);
    if (!run) return;
    const Series same_series(run->strategy);
    const Condition same_condition(run->rho);
    const std::string what = series.title() + " at " + condition.phrase();
    if (average(paper_, same_series, same_condition, Metric::kOverall, paper_options_).seeds == 0) {
      refused_["the paper has no such cell"].push_back(what);
      return;
    }
    const auto differences = protocol_differences(protocol_of(*run), paper_protocol());
    if (!differences.empty()) {
      add_refusal(refused_, what, differences);
      return;
    }
    for (const Metric metric : kMetrics) {
      if (metric != Metric::kOverall && run->log && run->log->groups != "paper") continue;
      const Average theirs = average(paper_, same_series, same_condition, metric, paper_options_);
      const Average mine = average(ours_, series, condition, metric, options_);
      if (theirs.seeds == 0 || mine.seeds == 0) continue;
      const double points = mine.mean - theirs.mean;
      (metric == Metric::kOverall ? overall_ : group_)
          .take(points, metric == Metric::kOverall ? what : fmt::format("{}, {}", metric_name(metric), what));
      table_.rows.push_back(row(series, condition, metric, theirs, mine));
    }
  }

  static std::vector<Cell> row(const Series& series, const Condition& condition, Metric metric,
                               const Average& theirs, const Average& ours) {
    const double points = ours.mean - theirs.mean;
    const double spread =
        ours.seeds > 1
            ? std::sqrt((ours.deviation * ours.deviation + theirs.deviation * theirs.deviation) / 2)
            : theirs.deviation;
    return {text(condition.text()),
            text(series.title()),
            text(std::string(metric_title(metric))),
            number(theirs.mean, theirs.deviation, 1),
            number(ours.mean, ours.seeds > 1 ? ours.deviation : kMissing, 1),
            number(ours.seeds, 0),
            difference(points, 2),
            difference(spread > 0 ? points / spread : kMissing, 1)};
  }

  void add_notes() {
    table_.notes.push_back(
        "Points: ours minus the paper's. Seed std: the same in units of the standard deviation over seeds "
        "(root mean square of the two; the paper's alone if ours is one seed). The paper's are means of "
        "three seeds.");
    if (options_.at == At::kLast)
      table_.notes.push_back("Ours at the last epoch, the paper's at the best epoch.");
    if (options_.at == At::kBest && ours_.select != Select::kAsLogged)
      table_.notes.push_back(fmt::format(
          "Ours at the epoch with the highest {} accuracy on the test images (--select), {}.",
          select_name(ours_.select),
          ours_.select == Select::kOverall ? "as the paper's"
                                           : "the paper's at that with the highest overall accuracy"));
  }

  const Results& paper_;
  const Results& ours_;
  const SummaryOptions& options_;
  SummaryOptions paper_options_;
  Table table_{.id = "against_paper",
               .caption = "Ours beside the paper's published results (%), cell by cell."};
  std::map<std::string, std::vector<std::string>> refused_{};
  Farthest overall_{}, group_{};
};

}  // namespace

Against against_paper(const Results& results, const SummaryOptions& options) {
  const Results paper = paper_results();
  const Cells cells(paper, results, options);
  Against against;
  against.refusals = cells.refusals();
  if (cells.table().rows.empty()) return against;
  against.statements.push_back(cells.farthest());
  if (!results.has_logs())
    against.statements.push_back(
        "A CSV does not tell its protocol; that it is the paper's is taken on trust.");
  const Results same = comparable_with_paper(results);
  against.statements.insert(against.statements.end(), same.warnings.begin(), same.warnings.end());
  if (const std::string missing = missing_of_paper(same); !missing.empty())
    against.statements.push_back(missing);
  compare_curves(results, against);
  against.claims = judge_claims(same, paper, options);
  against.statements.push_back(count_of(against.claims));
  against.tables.insert(against.tables.begin(), cells.table());  // before the curves
  against.tables.push_back(claims_table(against.claims));
  Table paired = paired_beside_paper(same, paper, options);
  if (!paired.rows.empty()) against.tables.push_back(std::move(paired));
  return against;
}

Against against_field(const Results& results, const SummaryOptions& options) {
  Table table{.id = "against_field",
              .caption =
                  "Uniform sampling beside the field's cross-entropy baselines on CIFAR-100-LT, overall "
                  "accuracy (%)."};
  table.columns = {{"ρ", true, true}, {"Baseline", true}, {"Published"},
                   {"Ours"},          {"Points"},         {"Source", true}};
  std::map<std::string, std::vector<std::string>> refused;
  for (const Condition& condition : results.conditions) {
    for (const Series& series : results.series) {
      const RunResult* run = any_run(results, series, condition);
      if (!run || run->strategy != "uniform") continue;
      for (const Baseline& baseline : field_baselines()) {
        if (baseline.rho != run->rho) continue;
        std::vector<std::string> differences = protocol_differences(protocol_of(*run), baseline.protocol);
        if (run->config.empty()) differences = {"a CSV does not tell its protocol"};
        if (!run->config.empty() && !run->config.contains("shortcut"))
          differences.push_back("the log does not tell its shortcut");
        if (!differences.empty()) {
          add_refusal(refused, fmt::format("{} at {}", baseline.name, condition.phrase()), differences);
          continue;
        }
        const Average ours = average(results, series, condition, Metric::kOverall, options);
        table.rows.push_back({text(condition.text()), text(baseline.name), number(baseline.overall, 2),
                              number(ours.mean, ours.seeds > 1 ? ours.deviation : kMissing, 2),
                              difference(ours.mean - baseline.overall, 2), text(baseline.source)});
      }
    }
  }
  Against against;
  against.refusals = refusal_sentences(refused, "the field's baselines");
  if (!table.rows.empty()) against.tables.push_back(std::move(table));
  return against;
}

}  // namespace longtail::report
