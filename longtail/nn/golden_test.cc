// The onednn engine against what PyTorch did from the same weights on the same images (shared golden files).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "longtail/nn/engine.h"
#include "longtail/nn/onednn/convolution.h"
#include "longtail/nn/sgd.h"
#include "longtail/nn/testing.h"

namespace longtail::nn {
namespace {

class Golden : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_GOLDEN();
    if (!load_golden_images(images_, labels_)) GTEST_SKIP() << "CIFAR-100 is not here";
    parameters_ = read_array<float>(golden_path("init_seed42.f32"));
    buffers_ = initial_buffers(spec_);
    gradient_.resize(parameters_.size());
  }

  Batch batch(int step) const {
    const auto at = static_cast<std::size_t>(step) * 128;
    return {images_.data() + at * 3072, std::span(labels_).subspan(at, 128), 128};
  }

  // At this learning rate rounding grows ten- to a hundredfold a step. Only PyTorch on one thread with oneDNN
  // for AVX-512, which wrote the files, follows them to the end (bit for bit); on two threads it leaves 0.1%
  // in loss and 1% in norm at steps 4 and 3 and is up to 1.1% and 9% away, in double 1.4% and 16%
  // (bench/peers/golden_steps.py, docs/engine.md). So the first steps are held to 0.1% and 1%, the others to
  // what rounding leaves. steps_test has steps that do not diverge.
  struct Held {
    int losses;  // steps held to 0.1%
    int norms;   // steps held to 1%
  };
  void ten_steps(bool nesterov, Held held) {
    const auto golden = nlohmann::json::parse(
        base::read_text(golden_path(nesterov ? "steps_nesterov.json" : "steps_plain.json")));
    if (onednn::channel_block() != 16) held = {3, 2};  // other kernels than PyTorch's, other roundings
    std::vector<float> momentum(parameters_.size());
    SgdConfig sgd;
    sgd.nesterov = nesterov;
    ASSERT_EQ(golden.size(), 10u);
    for (int i = 0; i < 10; ++i) {
      const auto& expected = golden[static_cast<std::size_t>(i)];
      const StepResult step = engine_->gradient(parameters_, buffers_, batch(i), *loss_, gradient_);
      const double length = sgd_step(sgd, gradient_, momentum, parameters_);
      EXPECT_NEAR(step.loss / expected["loss"].get<double>(), 1, i < held.losses ? 1e-3 : 2e-2)
          << "step " << i;
      EXPECT_NEAR(length / expected["grad_norm"].get<double>(), 1, i < held.norms ? 1e-2 : 0.2)
          << "step " << i;
      EXPECT_NEAR(norm(parameters_) / expected["param_norm"].get<double>(), 1, 1e-3) << "step " << i;
    }
  }

  ResNetSpec spec_ = make_spec("resnet32", "projection", 100, 3);
  base::ThreadPool pool_{2};
  std::unique_ptr<Engine> engine_ = make_engine("onednn", spec_, 128, pool_);
  std::unique_ptr<Loss> loss_ = make_loss("cross_entropy", {});
  std::vector<float> images_, parameters_, buffers_, gradient_;
  std::vector<std::int32_t> labels_;
};

TEST_F(Golden, TheFirstGradientAndRunningStatisticsAreThoseOfPyTorch) {
  engine_->gradient(parameters_, buffers_, batch(0), *loss_, gradient_);
  // Where oneDNN takes other instructions than it did for PyTorch, rounding carries other activations over
  // the edge of a ReLU: PyTorch itself is 4e-3 away from these files when it runs in channels-last order.
  const double tolerance = onednn::channel_block() == 16 ? 1e-4 : 5e-3;
  EXPECT_LT(relative_distance(gradient_, read_array<float>(golden_path("step0_grad.f32"))), tolerance);
  EXPECT_LT(largest_difference(buffers_, read_array<float>(golden_path("step0_buffers.f32"))), 1e-5);
}

// The golden logits are those of the training mode, which the engine does not hand out: a loss that keeps
// what it is given shows them.
TEST_F(Golden, TheFirstLogitsAreThoseOfPyTorch) {
  class Recorder : public Loss {
   public:
    Recorder() : Loss("recorder") {}
    double value(std::span<const float> logits, std::int32_t label,
                 std::span<float> gradient) const override {
      std::copy(logits.begin(), logits.end(), rows[static_cast<std::size_t>(label)].begin());
      std::fill(gradient.begin(), gradient.end(), 0.0f);
      return 0;
    }
    mutable std::vector<std::vector<float>> rows = std::vector(128, std::vector<float>(100));
  };
  // Labels become row numbers, in two halves because there are 128 rows and 100 classes.
  const auto golden = read_array<float>(golden_path("step0_logits.f32"));
  for (const int half : {0, 1}) {
    Recorder recorder;
    std::vector<std::int32_t> rows(128, 99);
    for (int i = 0; i < 64; ++i) rows[static_cast<std::size_t>(half * 64 + i)] = i;
    auto buffers = buffers_;
    Batch b = batch(0);
    b.labels = rows;
    engine_->gradient(parameters_, buffers, b, recorder, gradient_);
    for (std::size_t i = 0; i < 64; ++i) {
      const auto expected = std::span(golden).subspan((static_cast<std::size_t>(half) * 64 + i) * 100, 100);
      EXPECT_LT(largest_difference(recorder.rows[i], expected), 1e-4) << "row " << half * 64 + i;
    }
  }
}

// Ten steps turn the rounding of the first into a fifth of the logits. PyTorch's own settings end 34% to 130%
// away from these (bench/peers/golden_steps.py), a network that went elsewhere would be 140% away.
TEST_F(Golden, TenNesterovStepsFollowPyTorchAndEndWithMuchTheSameLogits) {
  ten_steps(true, {4, 2});
  std::vector<float> logits(128 * 100);
  engine_->predict(parameters_, buffers_, batch(0), logits);
  const auto golden = read_array<float>(golden_path("step9_eval_logits.f32"));
  // Without AVX-512 the ten steps end elsewhere on some CPUs (190% away on Zen 3), as PyTorch's own do.
  if (onednn::channel_block() == 16) {
    EXPECT_LT(relative_distance(logits, golden), 0.5);
  }
}

TEST_F(Golden, TenPlainStepsFollowPyTorch) { ten_steps(false, {4, 3}); }

}  // namespace
}  // namespace longtail::nn
