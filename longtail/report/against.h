// Our numbers next to the published ones: the paper's cell by cell, and the field's cross-entropy baselines.
// A number is compared only where the protocol is the same; otherwise the report says how it differs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "longtail/report/claims.h"
#include "longtail/report/results.h"
#include "longtail/report/summary.h"
#include "longtail/report/table.h"

namespace longtail::report {

struct Against {
  std::vector<Table> tables;            // ids begin with "against_"; empty tables are left out
  std::vector<std::string> refusals;    // a sentence for each thing that was not compared
  std::vector<std::string> statements;  // how near the cells are, what is missing
  std::vector<Claim> claims;            // the paper's, judged
};

// The paper's 36 results, embedded.
Results paper_results();

// The parameters of a run as one map, with the epochs actually trained, the default of whatever our logs
// leave out, and the actual size of the largest class.
std::map<std::string, std::string> protocol_of(const RunResult& run);

// The training loss next to the published curves, by ranges of epochs, and the momentum that the runs had: a
// table and statements. Nothing without logs. (against_curves.cc)
void compare_curves(const Results& results, Against& against);

// The paper's training parameters by name. Whether momentum is Nesterov's or plain is left open: the text
// says one, the published curves the other.
const std::map<std::string, std::string>& paper_protocol();

// The parameters in which the two differ, as "shortcut (pad there, projection here)". A parameter that one
// side does not state is not a difference.
std::vector<std::string> protocol_differences(const std::map<std::string, std::string>& ours,
                                              const std::map<std::string, std::string>& theirs);

// "plain", "Nesterov", or "not told" (a CSV, the paper's own logs).
std::string momentum_of(const RunResult& run);

// The runs that the paper has too, under its names ("progressive", "100"): each once, and all with the
// momentum that covers most of the paper's cells, since a difference between two momenta is not due to the
// strategy. `warnings` say what that leaves out. The second function names the missing ones of its 36 runs in
// a sentence, empty if none is missing. (against_runs.cc)
Results comparable_with_paper(const Results& results);
std::string missing_of_paper(const Results& comparable);

Against against_paper(const Results& results, const SummaryOptions& options);
Against against_field(const Results& results, const SummaryOptions& options);

}  // namespace longtail::report
