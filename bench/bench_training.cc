// One contender of bench/compare_training: times training steps and predictions of an engine on made-up
// images, on command.
//
//   bench_training ENGINE BATCH THREADS     then, one command per line on standard input:
//   train N | predict N | fma               seconds for N batches; multiply-adds per second of all threads
//   memory | work                           peak resident bytes; multiply-adds of a training step and of a
//                                           prediction
#include <fmt/format.h>
#include <immintrin.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "longtail/base/philox.h"
#include "longtail/data/layout.h"
#include "longtail/nn/engine.h"
#include "longtail/nn/init.h"
#include "longtail/nn/sgd.h"

namespace {

using namespace longtail;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Independent chains of fused multiply-adds, the most that the CPU can do. Returns how many were done.
__attribute__((target("avx512f"))) double multiply_adds_avx512(std::int64_t rounds, float* sink) {
  __m512 sums[16];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (auto& sum : sums) sum = _mm512_fmadd_ps(sum, a, b);
  }
  for (const auto& sum : sums) *sink += _mm512_cvtss_f32(sum);
  return static_cast<double>(rounds) * 16 * 16;
}

__attribute__((target("avx2,fma"))) double multiply_adds_avx2(std::int64_t rounds, float* sink) {
  __m256 sums[12];
  for (auto& sum : sums) sum = _mm256_setzero_ps();
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (auto& sum : sums) sum = _mm256_fmadd_ps(sum, a, b);
  }
  for (const auto& sum : sums) *sink += _mm256_cvtss_f32(sum);
  return static_cast<double>(rounds) * 12 * 8;
}

double fma_rate(base::ThreadPool& pool) {
  constexpr std::int64_t kRounds = 100'000'000;  // long compared with starting the threads
  std::vector<double> done(static_cast<std::size_t>(pool.threads()));
  std::vector<float> sinks(done.size());
  const auto start = Clock::now();
  pool.run(pool.threads(), [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    if (__builtin_cpu_supports("avx512f")) {
      done[i] = multiply_adds_avx512(kRounds, &sinks[i]);
    } else if (__builtin_cpu_supports("fma")) {
      done[i] = multiply_adds_avx2(kRounds, &sinks[i]);
    }
  });
  double total = 0;
  for (const double each : done) total += each;
  return total / seconds_since(start);
}

std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

// Multiply-adds of the convolutions for one image: in the forward pass, and in a training step (where the
// first layer computes no gradient at its input).
struct Work {
  double forward = 0;
  double training = 0;
};

Work work_of(const nn::ResNetSpec& spec) {
  Work work;
  const nn::NetworkPlan plan = nn::network_plan(spec);
  const auto add = [&work](const nn::ConvUnit& u, int times) {
    const double each = static_cast<double>(u.weight_size()) * u.out_side() * u.out_side();
    work.forward += each;
    work.training += times * each;
  };
  add(plan.stem, 2);
  for (const nn::BlockPlan& b : plan.blocks) {
    add(b.first, 3);
    add(b.second, 3);
    if (b.skip == nn::Skip::kProjection) add(b.projection, 3);
  }
  return work;
}

class Contender {
 public:
  Contender(const std::string& kind, int batch, int threads)
      : pool_(threads), engine_(nn::make_engine(kind, spec_, batch, pool_)), batch_(batch) {
    const std::size_t values = static_cast<std::size_t>(batch) * 3 * data::kPixels;
    const bool narrow = engine_->input_layout() == data::PixelLayout::kNhwcBf16;
    pixels_.resize(values * (narrow ? 2 : 4));
    const base::Stream stream{.seed = 1};
    for (std::size_t i = 0; i < values; ++i) {
      const float value = static_cast<float>(stream.block(i)[0]) * 0x1p-30f - 2.0f;
      const auto bits = std::bit_cast<std::uint32_t>(value);
      if (narrow) {
        const auto top = static_cast<std::uint16_t>(bits >> 16);
        std::memcpy(&pixels_[2 * i], &top, 2);
      } else {
        std::memcpy(&pixels_[4 * i], &bits, 4);
      }
    }
    for (int i = 0; i < batch; ++i) labels_.push_back(i % spec_.classes);
    momentum_.resize(parameters_.size());
    gradient_.resize(parameters_.size());
    logits_.resize(static_cast<std::size_t>(batch) * static_cast<std::size_t>(spec_.classes));
  }

  std::string answer(const std::string& command, int count) {
    const nn::Batch batch{pixels_.data(), labels_, batch_};
    const auto start = Clock::now();
    if (command == "train") {
      for (int i = 0; i < count; ++i) {
        engine_->gradient(parameters_, buffers_, batch, *loss_, gradient_);
        nn::sgd_step({.lr = 0.01}, gradient_, momentum_, parameters_);
      }
      return fmt::format("{:.6f}", seconds_since(start));
    }
    if (command == "predict") {
      for (int i = 0; i < count; ++i) engine_->predict(parameters_, buffers_, batch, logits_);
      return fmt::format("{:.6f}", seconds_since(start));
    }
    if (command == "fma") return fmt::format("{:.6e}", fma_rate(pool_));
    if (command == "memory") return fmt::format("{}", peak_memory());
    const Work work = work_of(spec_);
    return fmt::format("{:.6e} {:.6e}", work.training * batch_, work.forward * batch_);
  }

 private:
  nn::ResNetSpec spec_;
  base::ThreadPool pool_;
  std::unique_ptr<nn::Engine> engine_;
  std::unique_ptr<nn::Loss> loss_ = nn::make_loss("cross_entropy", {});
  int batch_;
  std::vector<std::byte> pixels_;
  std::vector<std::int32_t> labels_;
  std::vector<float> parameters_ = nn::initial_parameters(spec_, 42), buffers_ = nn::initial_buffers(spec_);
  std::vector<float> momentum_, gradient_, logits_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "bench_training ENGINE BATCH THREADS\n");
    return 2;
  }
  try {
    Contender contender(argv[1], std::stoi(argv[2]), std::stoi(argv[3]));
    fmt::print("ready\n");
    std::fflush(stdout);
    int count = 0;
    for (std::string command; std::cin >> command;) {
      if (command == "train" || command == "predict") std::cin >> count;
      fmt::print("{}\n", contender.answer(command, count));
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_training: %s\n", error.what());
    return 1;
  }
}
