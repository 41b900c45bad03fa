// Ten SGD steps of an engine from the golden weights on the golden batches, as JSON for
// bench/peers/golden_steps.py.
//
//   bench_golden_steps ENGINE GOLDEN_DIR CIFAR_100_PYTHON_DIR nesterov|plain
//
// Prints {"steps": [{"loss", "grad_norm"}, ...], "logits": [...]}: the logits are those of the first batch in
// evaluation mode afterwards.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/golden_batches.h"
#include "longtail/nn/init.h"
#include "longtail/nn/sgd.h"

namespace {

using namespace longtail;

nlohmann::json ten_steps(const std::string& kind, const std::filesystem::path& golden,
                         const std::string& cifar, bool nesterov) {
  base::ThreadPool pool(base::available_cpus());
  const nn::ResNetSpec spec;
  const auto engine = nn::make_engine(kind, spec, bench::kBatch, pool);
  const auto loss = nn::make_loss("cross_entropy", {});
  const bench::GoldenBatches batches(golden, data::load_dataset("cifar100", cifar), *engine, pool);
  auto parameters = bench::read_array<float>(golden / "init_seed42.f32");
  auto buffers = nn::initial_buffers(spec);
  std::vector<float> gradient(parameters.size()), momentum(parameters.size()), logits(bench::kBatch * 100);
  nn::SgdConfig sgd;
  sgd.nesterov = nesterov;
  nlohmann::json steps = nlohmann::json::array();
  for (std::size_t i = 0; i < batches.count(); ++i) {
    const double value = engine->gradient(parameters, buffers, batches.batch(i), *loss, gradient).loss;
    steps.push_back({{"loss", value}, {"grad_norm", nn::sgd_step(sgd, gradient, momentum, parameters)}});
  }
  engine->predict(parameters, buffers, batches.batch(0), logits);
  return {{"steps", steps}, {"logits", logits}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "bench_golden_steps ENGINE GOLDEN_DIR CIFAR_100_PYTHON_DIR nesterov|plain\n");
    return 2;
  }
  try {
    fmt::print("{}\n", ten_steps(argv[1], argv[2], argv[3], std::string(argv[4]) == "nesterov").dump());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_golden_steps: %s\n", error.what());
    return 1;
  }
}
