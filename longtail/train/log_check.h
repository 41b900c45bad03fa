// A log must agree with itself: it holds the same result several times (in the lists of the epochs, in `best`
// and `last`, class by class, in the confusion matrix, in the paper's keys), so a digit changed in one place
// shows. It also carries a hash of everything in it, which shows a digit changed in any place. A log without
// one (of the paper, of another program, of an older longtail) is accepted, and called unverified.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "longtail/train/run_log.h"

namespace longtail::train {

inline constexpr const char* kResultsHash = "results_sha256";

// An Error names the two places that differ, or the value that cannot be.
void check_agreement(const RunLog& log);
// The keys that repeat the best result for readers of the paper's form, if they are present.
void check_repeated(const nlohmann::json& object, const RunLog& log);

// SHA-256 of the log without its key `results_sha256`, keys in order, numbers as they are written.
std::string results_hash(nlohmann::json object);
// True if the log carries its hash; an Error if it is not the right one.
bool check_hash(const nlohmann::json& object);

}  // namespace longtail::train
