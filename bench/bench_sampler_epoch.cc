// One epoch of draws, timed from the class counts to the last index: our side of bench/compare_sampler.
//   bench_sampler_epoch CLASSES LARGEST RHO STRATEGY TIMES
// Prints: images seconds share_of_the_first_class peak_kilobytes. The classes follow the exponential profile.
// Indices go into one array, as PyTorch's do, unless the epoch has more than 10^8: then only 10^8 are drawn,
// in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "longtail/data/profile.h"
#include "longtail/sampling/stream.h"

namespace {

using namespace longtail;

constexpr std::int64_t kMost = 100'000'000;
constexpr std::int64_t kPiece = 1 << 16;

long peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

std::int64_t of_first_class(std::span<const std::int64_t> images, std::int64_t first_class) {
  return std::count_if(images.begin(), images.end(), [=](std::int64_t image) { return image < first_class; });
}

struct Epoch {
  std::int64_t draws = 0;
  double seconds = 0;
  double share = 0;  // of the first class
};

Epoch run_epoch(const sampling::Strategy& strategy, std::span<const std::int64_t> counts) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const sampling::IndexStream stream(strategy, counts, {160, 200}, 42);
  const std::int64_t draws = std::min(stream.size(), kMost);
  const std::int64_t piece = stream.size() > kMost ? kPiece : draws;
  std::vector<std::int64_t> images(static_cast<std::size_t>(piece));
  std::int64_t hits = 0;
  for (std::int64_t done = 0; done < draws; done += piece) {
    const auto part = std::span(images).first(static_cast<std::size_t>(std::min(piece, draws - done)));
    stream.fill(done, part);
    if (piece < draws) hits += of_first_class(part, counts[0]);
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;
  if (piece == draws) hits = of_first_class(images, counts[0]);
  return {draws, seconds.count(), static_cast<double>(hits) / static_cast<double>(draws)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: {} CLASSES LARGEST RHO STRATEGY TIMES\n", argv[0]);
    return 2;
  }
  const auto counts = data::exponential_profile(std::atoi(argv[1]), std::atoll(argv[2]), std::atof(argv[3]));
  const auto strategy = sampling::make_strategy(argv[4]);
  Epoch best = run_epoch(*strategy, counts);
  for (int i = 1; i < std::atoi(argv[5]); ++i) {
    const Epoch epoch = run_epoch(*strategy, counts);
    if (epoch.seconds < best.seconds) best = epoch;
  }
  fmt::print("{} {} {} {}\n", best.draws, best.seconds, best.share, peak_kilobytes());
  return 0;
}
