// The whole engine against the reference network in double, and against itself on other numbers of threads
// and in other batches. family_test has every depth, shortcut and odd batch.
#include <gtest/gtest.h>

#include <cmath>

#include "longtail/nn/amx/engine_testing.h"

namespace longtail::nn::amx {
namespace {

TEST(AmxEngine, AgreesWithTheReferenceWithinBf16) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(2);
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    const Images images(spec, 2);
    const auto reference = make_engine("reference", spec, 3, pool);
    const auto engine = make_engine("amx", spec, 3, pool);
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
    const auto reference = make_engine("reference", spec, 3, pool);
    const auto engine = make_engine("amx", spec, 3, pool);
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
        outcomes.push_back(run(*make_engine("amx", spec, 129, pool), s, images.for_tiles()));
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
  const auto used = make_engine("amx", spec, 20, pool);
  run(*used, s, Images(spec, 20).for_tiles());
  const Images images(spec, 9);
  EXPECT_TRUE(run(*used, s, images.for_tiles()) ==
              run(*make_engine("amx", spec, 9, pool), s, images.for_tiles()));
}

// A batch that is one image many times has that image's loss and prediction, whatever slice the image is in.
TEST(AmxEngine, TreatsEveryImageOfABatchAlike) {
  SKIP_WITHOUT_TILES();
  for (const ResNetSpec& spec : kSpecs) {
    const Setting s(spec);
    base::ThreadPool pool(2);
    const auto engine = make_engine("amx", spec, 19, pool);
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

TEST(AmxEngine, RefusesBatchesThatDoNotFit) {
  SKIP_WITHOUT_TILES();
  base::ThreadPool pool(1);
  const ResNetSpec spec = kSpecs[0];
  const Setting s(spec);
  const auto engine = make_engine("amx", spec, 2, pool);
  EXPECT_THROW(run(*engine, s, Images(spec, 3).for_tiles()), std::exception);
}

}  // namespace
}  // namespace longtail::nn::amx
