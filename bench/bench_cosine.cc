// How near are the gradients of the amx engines to that of the onednn engine (fp32), whole network, batches
// of 128? At the initial weights of seed 42, after 50 steps and after whole epochs of the paper's training
// (CIFAR-100-LT, rho = 100, uniform, augmented), each on the ten golden batches.
//
//   bench_cosine GOLDEN_DIR CIFAR_100_PYTHON_DIR [OUT_DIR [EPOCHS]]
//
// OUT_DIR gets the weights as flat floats, for bench/peers/bf16_rounding.py: PyTorch's own bf16 at the same
// weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "bench/golden_batches.h"
#include "longtail/nn/init.h"
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

class Comparison {
 public:
  Comparison(const std::filesystem::path& golden, const std::string& cifar, std::filesystem::path out)
      : cifar_(data::load_dataset("cifar100", cifar)),
        narrow_batches_(golden, cifar_, *narrow_, pool_),
        fine_batches_(golden, cifar_, *fine_, pool_),
        exact_batches_(golden, cifar_, *exact_, pool_),
        out_(std::move(out)) {
    config_ = train::resolved(config_);
    subset_ = data::make_subset(config_.subset, cifar_.train.labels, cifar_.classes(), config_.seed);
    if (!out_.empty()) base::make_folder(out_);
  }

  void run(int epochs) {
    fmt::print(
        "| weights | engine | first batch | mean of ten | smallest | length, first batch | two batches, fp32 "
        "|\n");
    fmt::print("| --- | --- | --- | --- | --- | --- | --- |\n");
    measure("init");
    for (int epoch = 0; epoch < epochs; ++epoch) {
      train(epoch);
      measure(fmt::format("epoch{}", epoch + 1));
    }
  }

 private:
  // An epoch of the paper's training with the amx engine.
  void train(int epoch) {
    const train::TrainingSource source{cifar_,
                                       subset_,
                                       narrow_->input_layout(),
                                       bench::kBatch,
                                       data::Augmenter::parse("crop_flip"),
                                       static_cast<std::uint64_t>(config_.seed)};
    const auto uniform = sampling::make_strategy("uniform");
    const auto batches = source.epoch(*uniform, {.epoch = epoch, .epochs = config_.epochs});
    const nn::SgdConfig sgd{.lr = train::learning_rate(config_, epoch)};
    for (int step = 1; const train::BatchQueue::Slot* slot = batches->next(); ++step) {
      narrow_->gradient(parameters_, buffers_, slot->batch(), *loss_, a_);
      nn::sgd_step(sgd, a_, momentum_, parameters_);
      if (epoch == 0 && step == 50) measure("steps50");
    }
  }

  void measure(const std::string& name) {
    measure(name, *narrow_, narrow_batches_);
    measure(name, *fine_, fine_batches_);
    if (!out_.empty())
      base::write_atomically(out_ / (name + ".f32"), std::as_bytes(std::span<const float>(parameters_)));
  }

  void measure(const std::string& name, nn::Engine& engine, const bench::GoldenBatches& batches) {
    double first = 0, length = 0, sum = 0, smallest = 1, others = 0;
    std::vector<float> before;  // the fp32 gradient of the batch before
    for (std::size_t i = 0; i < batches.count(); ++i) {
      auto ignored = buffers_;
      engine.gradient(parameters_, ignored, batches.batch(i), *loss_, a_);
      exact_->gradient(parameters_, ignored, exact_batches_.batch(i), *loss_, b_);
      const double aa = inner(a_, a_), bb = inner(b_, b_), cosine = inner(a_, b_) / std::sqrt(aa * bb);
      if (i == 0) first = cosine, length = std::sqrt(aa / bb);
      sum += cosine;
      if (i > 0) others += inner(before, b_) / std::sqrt(inner(before, before) * bb);
      before = b_;
      smallest = std::min(smallest, cosine);
    }
    const double count = static_cast<double>(batches.count());
    fmt::print("| {} | {} | {:.5f} | {:.5f} | {:.5f} | {:.4f} | {:.2f} |\n", name, engine.name(), first,
               sum / count, smallest, length, others / (count - 1));
    std::fflush(stdout);
  }

  nn::ResNetSpec spec_;
  train::RunConfig config_;
  data::Dataset cifar_;
  data::Subset subset_;
  base::ThreadPool pool_{base::available_cpus()};
  std::unique_ptr<nn::Engine> narrow_ = nn::make_engine("amx", spec_, bench::kBatch, pool_);
  std::unique_ptr<nn::Engine> fine_ = nn::make_engine("amx-fine", spec_, bench::kBatch, pool_);
  std::unique_ptr<nn::Engine> exact_ = nn::make_engine("onednn", spec_, bench::kBatch, pool_);
  std::unique_ptr<nn::Loss> loss_ = nn::make_loss("cross_entropy", {});
  bench::GoldenBatches narrow_batches_, fine_batches_, exact_batches_;
  std::filesystem::path out_;
  std::vector<float> parameters_ = nn::initial_parameters(spec_, 42), buffers_ = nn::initial_buffers(spec_);
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
