// Draws per second of the index streams, with each of the instruction sets that this CPU has.
//   build/bench/bench_sampler
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "longtail/data/profile.h"
#include "longtail/sampling/stream.h"

namespace {

using namespace longtail;
using base::Cpu;

void fill(benchmark::State& state, const char* strategy, const std::vector<std::int64_t>& counts, Cpu how) {
  const sampling::IndexStream stream(*sampling::make_strategy(strategy), counts, {100, 200}, 42);
  std::vector<std::int64_t> images(8192);
  std::int64_t first = 0;
  for (auto _ : state) {
    stream.fill(first, images, how);
    benchmark::DoNotOptimize(images.data());
    first = (first + 8192) % (stream.size() - 8192);
  }
  state.SetItemsProcessed(state.iterations() * 8192);
}

// What a new epoch costs before its first draw.
void start(benchmark::State& state, const char* strategy, const std::vector<std::int64_t>& counts) {
  const auto made = sampling::make_strategy(strategy);
  int epoch = 0;
  for (auto _ : state) {
    const sampling::IndexStream stream(*made, counts, {epoch++ % 200, 200}, 42);
    benchmark::DoNotOptimize(stream.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::int64_t> paper = data::exponential_profile(100, 500, 100);
  const std::vector<std::int64_t> million(1000, 1'000'000);
  for (const char* strategy : {"uniform", "progressive"}) {
    for (const Cpu how : base::cpus_here()) {
      const auto label = std::string("fill/") + strategy + "/" + base::cpu_name(how);
      benchmark::RegisterBenchmark((label + "/10847").c_str(), fill, strategy, paper, how);
      benchmark::RegisterBenchmark((label + "/1e9").c_str(), fill, strategy, million, how);
    }
    benchmark::RegisterBenchmark((std::string("start/") + strategy + "/100_classes").c_str(), start, strategy,
                                 paper);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
