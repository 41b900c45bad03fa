// Separates two sources of chance: the seeds, and the test images, which are a sample too.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "longtail/data/groups.h"
#include "longtail/report/tables.h"
#include "longtail/report/tables_parts.h"

namespace longtail::report {
namespace {

// Test images of each class: the rows of the confusion matrix. Empty if the log has none.
std::vector<double> test_images(const train::FullResult& result) {
  std::vector<double> images;
  for (const auto& row : result.confusion) images.push_back(std::accumulate(row.begin(), row.end(), 0.0));
  if (images.size() != result.per_class.size()) images.clear();
  return images;
}

bool belongs(Metric metric, data::Group group) {
  switch (metric) {
    case Metric::kHead:
      return group == data::Group::kHead;
    case Metric::kMedium:
      return group == data::Group::kMedium;
    case Metric::kTail:
      return group == data::Group::kTail;
    default:
      return true;
  }
}

}  // namespace

double test_noise(const train::RunLog& log, const train::FullResult& result, Metric metric) {
  const std::vector<double> images = test_images(result);
  if (images.empty() || log.class_counts.size() != images.size()) return kMissing;
  const std::vector<data::Group> groups = data::Groups::parse(log.groups).of(log.class_counts);
  double variance = 0, classes = 0, total = 0;
  for (std::size_t k = 0; k < images.size(); ++k) {
    if (images[k] <= 0 || !belongs(metric, groups[k])) continue;
    const double p = result.per_class[k] / 100;
    const double share = metric == Metric::kOverall ? images[k] : 1;  // its weight in the mean
    variance += share * share * p * (1 - p) / images[k];
    classes += 1;
    total += images[k];
  }
  const double weight = metric == Metric::kOverall ? total : classes;
  return weight > 0 ? 100 * std::sqrt(variance) / weight : kMissing;
}

std::optional<Table> noise_table(const Results& results, const Summary& summary, const Condition& condition) {
  Table table{.id = "noise_" + condition.slug(),
              .caption = fmt::format(
                  "What chance does to the accuracy of one run at {} (standard deviations, "
                  "points).{}",
                  condition.phrase(), at_logged_epoch(results, summary.options.at, "Test images"))};
  table.columns = {{"Metric", true}, {"Seeds"}, {"Test images"}, {"Larger", true}};
  double fewest = 0;
  for (const FamilyOf& one : summary.families) {
    if (one.condition != condition || one.family.method == Method::kNone) continue;
    std::vector<double> test;
    for (const RunResult& run : results.runs) {
      if (!run.log || run.condition != condition) continue;
      const train::FullResult& result = summary.options.at == At::kBest ? run.log->best : run.log->last;
      const double noise = test_noise(*run.log, result, one.metric);
      if (!std::isfinite(noise)) continue;
      test.push_back(noise);
      for (const double images : test_images(result)) {
        if (images > 0) fewest = fewest == 0 ? images : std::min(fewest, images);
      }
    }
    if (test.empty()) continue;
    const double images = mean(test);
    table.rows.push_back({text(std::string(metric_title(one.metric))), number(one.family.residual, 2),
                          number(images, 2), text(images > one.family.residual ? "test images" : "seeds")});
  }
  if (table.rows.empty()) return std::nullopt;
  table.notes.push_back(fmt::format(
      "Seeds: the residual after strategy and seed. Test images: binomial, as if other images of the same "
      "kind had been drawn; the runs of a report share their test images, so this part is not in the "
      "intervals of differences. With {:.0f} test images the accuracy of a class is known to ± {} points "
      "(95%, Wilson, at 50%).",
      fewest, fixed(100 * (wilson(0.5, fewest).high - 0.5), 0)));
  return table;
}

Interval wilson(double share, double count) {
  constexpr double z = 1.959964;
  const double scale = 1 / (1 + z * z / count);
  const double centre = scale * (share + z * z / (2 * count));
  const double half = scale * z * std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
  return {centre - half, centre + half};
}

}  // namespace longtail::report
