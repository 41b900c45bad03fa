// How close are the gradients of the engines to more exact ones? Of the whole network, in batches of 128: at
// the initial weights of seed 42, after 50 steps and after whole epochs of the paper's training with the
// engine that `auto` chooses (CIFAR-100-LT, rho = 100, uniform, augmented). The tile engines, on a CPU with
// tiles, are compared with `simd` (fp32) on the ten golden batches, and `simd` with `reference` (double, half
// a minute per batch) on the first one.
//
//   bench_cosine GOLDEN_DIR CIFAR_100_PYTHON_DIR [OUT_DIR [EPOCHS]]
//
// OUT_DIR gets the weights as flat floats, for bench/peers/bf16_rounding.py and fp32_error.py: PyTorch's own
// bf16 and fp32 at the same weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "bench/golden_batches.h"
#include "longtail/nn/init.h"
#include "longtail/nn/registry.h"
#include "longtail/nn/sgd.h"
#include "longtail/sampling/strategy.h"
#include "longtail/train/batch_queue.h"
#include "longtail/train/schedule.h"

namespace {

using namespace longtail;

double inner(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

// An engine and the golden batches in its layout.
struct Candidate {
  std::unique_ptr<nn::Engine> engine;
  bench::GoldenBatches batches;

  Candidate(const std::string& name, const std::filesystem::path& golden, const data::Dataset& cifar,
            base::ThreadPool& pool)
      : engine(nn::make_engine(name, {}, bench::kBatch, pool)), batches(golden, cifar, *engine, pool) {}
};

class Comparison {
 public:
  Comparison(const std::filesystem::path& golden, const std::string& cifar, std::filesystem::path out)
      : cifar_(data::load_dataset("cifar100", cifar)), out_(std::move(out)) {
    config_ = train::resolved(config_);
    subset_ = data::make_subset(config_.subset, cifar_.train.labels, cifar_.classes(), config_.seed);
    if (!out_.empty()) base::make_folder(out_);
    for (const std::string& name : nn::engines_for({})) {
      candidates_.push_back(std::make_unique<Candidate>(name, golden, cifar_, pool_));
    }
  }

  void run(int epochs) {
    fmt::print(
        "| weights | engine | against | batches | cosine of the first | mean | smallest | error of the first "
        "| "
        "cosine of two batches |\n");
    fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    measure("init");
    for (int epoch = 0; epoch < epochs; ++epoch) {
      train(epoch);
      measure(fmt::format("epoch{}", epoch + 1));
    }
  }

 private:
  // An epoch of the paper's training with the fastest engine.
  void train(int epoch) {
    nn::Engine& engine = *candidates_.front()->engine;
    const train::TrainingSource source{cifar_,
                                       subset_,
                                       engine.input_layout(),
                                       bench::kBatch,
                                       data::Augmenter::parse("crop_flip"),
                                       static_cast<std::uint64_t>(config_.seed)};
    const auto uniform = sampling::make_strategy("uniform");
    const auto batches = source.epoch(*uniform, {.epoch = epoch, .epochs = config_.epochs});
    const nn::SgdConfig sgd{.lr = train::learning_rate(config_, epoch)};
    for (int step = 1; const train::BatchQueue::Slot* slot = batches->next(); ++step) {
      engine.gradient(parameters_, buffers_, slot->batch(), *loss_, a_);
      nn::sgd_step(sgd, a_, momentum_, parameters_);
      if (epoch == 0 && step == 50) measure("steps50");
    }
  }

  void measure(const std::string& name) {
    if (!out_.empty())
      base::write_atomically(out_ / (name + ".f32"), std::as_bytes(std::span<const float>(parameters_)));
    for (const auto& candidate : candidates_) {
      if (candidate->engine->name() == "reference") continue;
      const bool fp32 = candidate->engine->name() == "simd";
      measure(name, *candidate, fp32 ? of("reference") : of("simd"), fp32 ? 1 : candidate->batches.count());
    }
  }

  Candidate& of(std::string_view name) {
    for (const auto& candidate : candidates_) {
      if (candidate->engine->name() == name) return *candidate;
    }
    base::fail("no engine {} here", name);
  }

  void measure(const std::string& name, Candidate& one, Candidate& exact, std::size_t batches) {
    double first = 0, error = 0, sum = 0, smallest = 1, others = 0;
    std::vector<float> before;  // the exact gradient of the previous batch
    for (std::size_t i = 0; i < batches; ++i) {
      auto ignored = buffers_;
      one.engine->gradient(parameters_, ignored, one.batches.batch(i), *loss_, a_);
      exact.engine->gradient(parameters_, ignored, exact.batches.batch(i), *loss_, b_);
      const double aa = inner(a_, a_), ab = inner(a_, b_), bb = inner(b_, b_),
                   cosine = ab / std::sqrt(aa * bb);
      if (i == 0) first = cosine, error = std::sqrt(std::max(0.0, aa - 2 * ab + bb) / bb);
      sum += cosine;
      if (i > 0) others += inner(before, b_) / std::sqrt(inner(before, before) * bb);
      before = b_;
      smallest = std::min(smallest, cosine);
    }
    const double count = static_cast<double>(batches);
    fmt::print("| {} | {} | {} | {} | {:.7f} | {:.7f} | {:.7f} | {:.1e} | {} |\n", name, one.engine->name(),
               exact.engine->name(), batches, first, sum / count, smallest, error,
               batches > 1 ? fmt::format("{:.2f}", others / (count - 1)) : "");
    std::fflush(stdout);
  }

  train::RunConfig config_;
  data::Dataset cifar_;
  data::Subset subset_;
  base::ThreadPool pool_{base::available_cpus()};
  std::vector<std::unique_ptr<Candidate>> candidates_;  // the fastest first
  std::unique_ptr<nn::Loss> loss_ = nn::make_loss("cross_entropy", {});
  std::filesystem::path out_;
  std::vector<float> parameters_ = nn::initial_parameters({}, 42), buffers_ = nn::initial_buffers({});
  std::vector<float> momentum_ = std::vector<float>(parameters_.size());
  std::vector<float> a_ = momentum_, b_ = momentum_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    std::fprintf(stderr, "bench_cosine GOLDEN_DIR CIFAR_100_PYTHON_DIR [OUT_DIR [EPOCHS]]\n");
    return 2;
  }
  try {
    Comparison(argv[1], argv[2], argc > 3 ? argv[3] : "").run(argc > 4 ? std::stoi(argv[4]) : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cosine: %s\n", error.what());
    return 1;
  }
}
