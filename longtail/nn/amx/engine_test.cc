// The whole engine against the reference network in double, against PyTorch's golden steps, and against
// itself on other numbers of threads.
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/nn/amx/amx_testing.h"
#include "longtail/nn/init.h"
#include "longtail/nn/reference_engine.h"
#include "longtail/nn/testing.h"

namespace longtail::nn::amx {
namespace {

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

// The same made-up images for both engines: smooth stripes of the class and some noise, exact in bf16.
struct Images {
  std::vector<float> nchw;
  std::vector<Bf16> nhwc;
  std::vector<std::int32_t> labels;

  Images(const ResNetSpec& spec, int count) {
    Numbers numbers(21);
    const std::size_t channels = static_cast<std::size_t>(spec.channels);
    nchw.resize(static_cast<std::size_t>(count) * channels * 1024);
    nhwc.resize(nchw.size());
    for (int n = 0; n < count; ++n) {
      labels.push_back(n * 7 % spec.classes);
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t p = 0; p < 1024; ++p) {
          const double wave =
              std::sin(0.1 * (labels.back() + 1) * static_cast<double>(p % 32 + c * (p / 32)));
          const Bf16 v = narrow(static_cast<float>(wave) + numbers.next());
          const std::size_t image = static_cast<std::size_t>(n) * channels * 1024;
          nchw[image + c * 1024 + p] = widen(v);
          nhwc[image + p * channels + c] = v;
        }
      }
    }
  }
  Batch for_reference() const { return {nchw.data(), labels, static_cast<int>(labels.size())}; }
  Batch for_tiles() const { return {nhwc.data(), labels, static_cast<int>(labels.size())}; }
};

struct Setting {
  ResNetSpec spec;
  std::vector<float> parameters, buffers;
  std::unique_ptr<Loss> loss;

  explicit Setting(const ResNetSpec& s)
      : spec(s), parameters(initial_parameters(s, 42)), buffers(initial_buffers(s)) {
    loss = make_loss("cross_entropy", std::vector<std::int64_t>(static_cast<std::size_t>(s.classes), 1));
    // Batch norms that do something of their own.
    Numbers numbers(22);
    for (const View& view : parameter_layout(s).parameters) {
      if (view.shape.size() != 1) continue;
      for (std::int64_t i = 0; i < view.size; ++i) {
        parameters[static_cast<std::size_t>(view.offset + i)] += 0.2f * numbers.next();
      }
    }
    for (float& b : buffers) b += 0.1f * std::abs(numbers.next());
  }
};

struct Outcome {
  StepResult step;
  std::vector<float> gradient, buffers, logits;
  bool operator==(const Outcome& o) const {
    return step.loss == o.step.loss && step.correct == o.step.correct && gradient == o.gradient &&
           buffers == o.buffers && logits == o.logits;
  }
};

Outcome run(Engine& engine, const Setting& s, const Batch& batch) {
  Outcome o;
  o.buffers = s.buffers;
  o.gradient.resize(s.parameters.size());
  o.logits.resize(static_cast<std::size_t>(batch.size * s.spec.classes));
  o.step = engine.gradient(s.parameters, o.buffers, batch, *s.loss, o.gradient);
  engine.predict(s.parameters, s.buffers, batch, o.logits);
  return o;
}

const ResNetSpec kSpecs[] = {{20, Shortcut::kProjection, 10, 3}, {20, Shortcut::kPad, 7, 1}};

TEST(AmxEngine, AgreesWithTheReferenceWithinBf16) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    const Images images(spec, 2);
    const auto reference = make_reference_engine(spec, 3);
    const auto engine = make_amx_engine(spec, 3, pool);
    const Outcome expected = run(*reference, s, images.for_reference());
    const Outcome actual = run(*engine, s, images.for_tiles());
    EXPECT_NEAR(actual.step.loss, expected.step.loss, 0.02 * expected.step.loss);
    EXPECT_GT(cosine(actual.gradient, expected.gradient), 0.99);
    EXPECT_GT(cosine(actual.logits, expected.logits), 0.999);
    EXPECT_LT(relative_distance(actual.logits, expected.logits), 0.05);
    EXPECT_LT(relative_distance(actual.buffers, expected.buffers), 0.02);
  }
}

TEST(AmxEngine, FrozenGradientsAgreeWithTheReferenceImageByImage) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    const Images images(spec, 3);
    const auto reference = make_reference_engine(spec, 3);
    const auto engine = make_amx_engine(spec, 3, pool);
    std::vector<std::vector<float>> expected, actual;
    reference->image_gradients(
        s.parameters, s.buffers, images.for_reference(), *s.loss,
        [&](int, std::span<const float> g) { expected.emplace_back(g.begin(), g.end()); });
    engine->image_gradients(s.parameters, s.buffers, images.for_tiles(), *s.loss,
                            [&](int i, std::span<const float> g) {
                              EXPECT_EQ(static_cast<std::size_t>(i), actual.size());
                              actual.emplace_back(g.begin(), g.end());
                            });
    ASSERT_EQ(actual.size(), expected.size());
    std::vector<float> mean(s.parameters.size()), batch_gradient(s.parameters.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_GT(cosine(actual[i], expected[i]), 0.995) << "image " << i;
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += actual[i][k] / 3;
    }
    engine->frozen_gradient(s.parameters, s.buffers, images.for_tiles(), *s.loss, batch_gradient);
    EXPECT_LT(relative_distance(batch_gradient, mean), 0.01);
  }
}

TEST(AmxEngine, GivesTheSameBitsOnAnyNumberOfThreads) {
  SKIP_WITHOUT_TILES();
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    for (const int size : spec.channels == 3 ? std::vector{7, 129} : std::vector{1, 127}) {
      const Images images(spec, size);
      std::vector<Outcome> outcomes;
      for (int threads = 1; threads <= 4; ++threads) {
        base::ThreadPool pool(threads);
        outcomes.push_back(run(*make_amx_engine(spec, 129, pool), s, images.for_tiles()));
        EXPECT_TRUE(outcomes.back() == outcomes.front()) << threads << " threads, batch of " << size;
      }
    }
  }
}

// What stays in buffers from a larger batch must not leak into a smaller one.
TEST(AmxEngine, ForgetsTheBatchBefore) {
  SKIP_WITHOUT_TILES();
  const ResNetSpec spec = kSpecs[0];
  const Setting s(spec);
  base::ThreadPool pool(2);
  const auto used = make_amx_engine(spec, 20, pool);
  run(*used, s, Images(spec, 20).for_tiles());
  const Images images(spec, 9);
  EXPECT_TRUE(run(*used, s, images.for_tiles()) ==
              run(*make_amx_engine(spec, 9, pool), s, images.for_tiles()));
}

// A batch that is one image many times has that image's loss and prediction, whatever slice the image is in.
TEST(AmxEngine, TreatsEveryImageOfABatchAlike) {
  SKIP_WITHOUT_TILES();
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    base::ThreadPool pool(2);
    const auto engine = make_amx_engine(spec, 19, pool);
    const Images one(spec, 1);
    Images many(spec, 0);
    for (int i = 0; i < 19; ++i) {
      many.nhwc.insert(many.nhwc.end(), one.nhwc.begin(), one.nhwc.end());
      many.labels.push_back(one.labels[0]);
    }
    const Outcome single = run(*engine, s, one.for_tiles()), batch = run(*engine, s, many.for_tiles());
    const std::size_t classes = static_cast<std::size_t>(spec.classes);
    for (std::size_t i = 0; i < batch.logits.size(); ++i)
      ASSERT_EQ(batch.logits[i], single.logits[i % classes]) << i;
    EXPECT_NEAR(batch.step.loss, single.step.loss, 1e-3);
    EXPECT_GT(cosine(batch.gradient, single.gradient), 0.999);
  }
}

TEST(AmxEngine, WalksEveryDepthOfTheFamily) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  for (const int depth : {20, 32, 44, 56, 110}) {
    const ResNetSpec spec{depth, Shortcut::kProjection, 100, 3};
    const Setting s(spec);
    const Images images(spec, 2);
    const Outcome o = run(*make_amx_engine(spec, 2, pool), s, images.for_tiles());
    EXPECT_GT(o.step.loss, 1.0);
    EXPECT_LT(o.step.loss, 20.0);
    for (const View& view : parameter_layout(spec).parameters) {
      double norm = 0;
      for (std::int64_t i = 0; i < view.size; ++i) {
        norm += std::abs(o.gradient[static_cast<std::size_t>(view.offset + i)]);
      }
      EXPECT_TRUE(std::isfinite(norm) && norm > 0) << view.name;
    }
  }
}

TEST(AmxEngine, RefusesBatchesThatDoNotFit) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(1);
  const ResNetSpec spec = kSpecs[0];
  const Setting s(spec);
  const auto engine = make_amx_engine(spec, 2, pool);
  EXPECT_THROW(run(*engine, s, Images(spec, 3).for_tiles()), std::exception);
}

}  // namespace
}  // namespace longtail::nn::amx
