// What happened during training, averaged over seeds: accuracy and loss by epoch, accuracy by class.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "longtail/report/results.h"
#include "longtail/report/stats.h"

namespace longtail::report {

enum class Track { kTestAccuracy, kTrainLoss, kHead, kMedium, kTail, kTrainAccuracy, kTestLoss };
inline constexpr std::array<Track, 7> kTracks = {
    Track::kTestAccuracy, Track::kTrainLoss,     Track::kHead,    Track::kMedium,
    Track::kTail,         Track::kTrainAccuracy, Track::kTestLoss};
std::string_view track_name(Track track);  // the key in a log: "test_acc"
const std::vector<double>& track_of(const train::RunLog& log, Track track);

struct Curve {
  std::vector<double> mean,
      deviation;  // one per epoch; empty if there is no such run or the group has no class
};
Curve curve(const Results& results, const Series& series, const Condition& condition, Track track,
            Deviation kind);

// Mean accuracy of each class over seeds at the chosen epoch; empty if the logs do not tell.
std::vector<double> per_class(const Results& results, const Series& series, const Condition& condition,
                              At at);

// The epochs at which the learning rate drops in a condition, from the log of one of its runs.
std::vector<int> milestones(const Results& results, const Condition& condition);

// The share of balanced sampling in a strategy at each epoch: lambda of progressive sampling. Empty for a
// strategy that does not change or that this program does not know.
std::vector<double> lambda_of(const std::string& strategy, int epochs);

}  // namespace longtail::report
