// One file a subcommand. Each adds itself to the program; the callback does the work and throws base::Error.
#pragma once

#include <CLI/CLI.hpp>

namespace longtail::cli {

void add_data(CLI::App& app);
void add_subset(CLI::App& app);
void add_sample(CLI::App& app);
void add_init(CLI::App& app);
void add_train(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_export(CLI::App& app);
void add_study(CLI::App& app);
void add_report(CLI::App& app);
void add_compare(CLI::App& app);
void add_theory(CLI::App& app);
void add_probe(CLI::App& app);
void add_params(CLI::App& app);

}  // namespace longtail::cli
