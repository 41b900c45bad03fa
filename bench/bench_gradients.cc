// The gradients of an engine on the ten golden batches, at given weights in training mode, as flat floats for
// bench/peers/fp32_error.py.
//
//   bench_gradients ENGINE GOLDEN_DIR CIFAR_100_PYTHON_DIR WEIGHTS.f32 OUT.f32 [BATCHES]
#include <cstdio>
#include <string>

#include "bench/golden_batches.h"
#include "longtail/nn/init.h"

namespace {

using namespace longtail;

void write_gradients(const std::string& kind, const std::filesystem::path& golden, const std::string& cifar,
                     const std::filesystem::path& weights, const std::filesystem::path& out,
                     std::size_t most) {
  base::ThreadPool pool(base::available_cpus());
  const nn::ResNetSpec spec;
  const auto engine = nn::make_engine(kind, spec, bench::kBatch, pool);
  const auto loss = nn::make_loss("cross_entropy", {});
  const bench::GoldenBatches batches(golden, data::load_dataset("cifar100", cifar), *engine, pool);
  const auto parameters = bench::read_array<float>(weights);
  const std::size_t count = std::min(most, batches.count());
  std::vector<float> gradients(count * parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    auto buffers = nn::initial_buffers(spec);
    engine->gradient(parameters, buffers, batches.batch(i), *loss,
                     std::span(gradients).subspan(i * parameters.size(), parameters.size()));
  }
  base::write_atomically(out, std::as_bytes(std::span<const float>(gradients)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fprintf(stderr,
                 "bench_gradients ENGINE GOLDEN_DIR CIFAR_100_PYTHON_DIR WEIGHTS.f32 OUT.f32 [BATCHES]\n");
    return 2;
  }
  try {
    write_gradients(argv[1], argv[2], argv[3], argv[4], argv[5], argc > 6 ? std::stoul(argv[6]) : 10);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gradients: %s\n", error.what());
    return 1;
  }
}
