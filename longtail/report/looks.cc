// The looks of a race, replayed from the table of its runs.
#include <algorithm>
#include <cmath>

#include "longtail/report/recommendation.h"

namespace longtail::report {

Race run_looks(const SeedTable& table, std::size_t baseline, const LookPlan& plan) {
  Race race;
  for (std::size_t i = 0; i < table.strategies(); ++i) race.still_in.push_back(i);
  const auto whole = [&](int seeds) {
    const auto count = static_cast<std::size_t>(seeds);
    if (table.seeds() < count) return false;
    return std::all_of(race.still_in.begin(), race.still_in.end(), [&](std::size_t i) {
      const auto& row = table.values[i];
      return std::all_of(row.begin(), row.begin() + seeds, [](double v) { return std::isfinite(v); });
    });
  };
  for (const int seeds : plan.seeds) {
    if (race.still_in.size() < 2) break;
    if (!whole(seeds)) {
      race.next = seeds;
      break;
    }
    race.rows = race.still_in;
    const auto at = std::find(race.rows.begin(), race.rows.end(), baseline);
    const FamilyOptions options{.baseline = static_cast<std::size_t>(at - race.rows.begin()),
                                .alpha = plan.alpha_of_a_look(),
                                .entrants = static_cast<int>(table.strategies())};
    race.family = analyse(part_of(table, race.rows, static_cast<std::size_t>(seeds)), options);
    ++race.looks;
    race.still_in.clear();
    for (std::size_t i = 0; i < race.rows.size(); ++i) {
      if (race.family.standings[i].may_be_best) {
        race.still_in.push_back(race.rows[i]);
      } else if (race.family.standings[i].comparable) {
        race.dropped.push_back(race.rows[i]);
        race.dropped_after.push_back(seeds);
      }
    }
    // Without any spread nothing can be told apart: all stay.
    if (race.family.method == Method::kNone) race.still_in = race.rows;
  }
  return race;
}

}  // namespace longtail::report
