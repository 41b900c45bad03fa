// One function and one .cc file per subcommand. Each function adds its command to the program; the callback
// does the work and throws base::Error.
#pragma once

#include "longtail/cli/app.h"

namespace longtail::cli {

void add_data(App& app);
void add_subset(App& app);
void add_sample(App& app);
void add_init(App& app);
void add_train(App& app);
void add_rebalance(App& app);
void add_evaluate(App& app);
void add_export(App& app);
void add_predict(App& app);
void add_recommend(App& app);
void add_study(App& app);
void add_report(App& app);
void add_compare(App& app);
void add_theory(App& app);
void add_probe(App& app);
void add_params(App& app);
void add_help(App& app);  // must come last: it describes all others

}  // namespace longtail::cli
