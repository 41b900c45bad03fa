// Every engine that this CPU has, against the reference in double: all that an engine promises (engine.h).
#include "longtail/nn/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "longtail/nn/registry.h"

namespace longtail::nn {
namespace {

using testing::IsEmpty;

struct NetworkCase {
  const char* model;
  const char* shortcut;
  int channels, width, side, batch;
};
const std::vector<NetworkCase> kNetworks = {
    {"resnet20", "projection", 3, 1, 32, 1}, {"resnet20", "projection", 1, 1, 32, 5},
    {"resnet20", "pad", 3, 1, 32, 3},        {"resnet20", "pad", 1, 1, 32, 1},
    {"resnet32", "pad", 3, 1, 32, 2},        {"resnet44", "projection", 1, 1, 32, 1},
    {"resnet56", "projection", 3, 1, 32, 1}, {"resnet110", "pad", 1, 1, 32, 1},
    {"resnet20", "projection", 3, 1, 16, 5}, {"resnet20", "pad", 3, 2, 16, 3},
    {"resnet20", "projection", 3, 4, 16, 1}, {"resnet20", "projection", 3, 2, 32, 1},
    {"resnet20", "projection", 3, 1, 48, 2}, {"resnet20", "pad", 1, 2, 40, 1},
    {"resnet20", "pad", 3, 1, 64, 1},        {"resnet20", "projection", 1, 1, 96, 1},
};

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  // The networks of the list that the engine can do; an engine must do some.
  template <class Body>
  void for_each_network(const Body& body) const {
    int done = 0;
    for (const NetworkCase& n : kNetworks) {
      const ResNetSpec spec = make_spec(n.model, n.shortcut, 5, n.channels, n.width, n.side);
      const std::vector<std::string> able = engines_for(spec);
      if (std::find(able.begin(), able.end(), GetParam()) == able.end()) continue;
      SCOPED_TRACE(fmt::format("{} {}, {} channels, width {}, side {}, batch of {}", n.model, n.shortcut,
                               n.channels, n.width, n.side, n.batch));
      body(exact_problem(spec, n.batch));
      ++done;
    }
    EXPECT_GE(done, 5);
  }
  Problem usual(int size) const { return exact_problem(make_spec("resnet20", "projection", 10, 3), size); }
  // The same bits in everything.
  static void expect_same(const Answer& a, const Answer& b, const std::string& what) {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    EXPECT_EQ(a.step.loss, b.step.loss) << what;
    EXPECT_EQ(a.step.correct, b.step.correct) << what;
    EXPECT_TRUE(same(a.gradient, b.gradient)) << what;
    EXPECT_TRUE(same(a.buffers, b.buffers)) << what;
    EXPECT_TRUE(same(a.logits, b.logits)) << what;
    EXPECT_TRUE(same(a.frozen, b.frozen)) << what;
    ASSERT_EQ(a.by_image.size(), b.by_image.size()) << what;
    for (std::size_t i = 0; i < a.by_image.size(); ++i)
      EXPECT_TRUE(same(a.by_image[i], b.by_image[i])) << what;
  }
};

class Agreement : public Conformance {};

TEST_P(Agreement, WithTheReferenceOnEveryNetworkTheEngineDoes) {
  for_each_network([](const Problem& problem) {
    const Answer expected = answer_of("reference", problem, 2);
    const Answer actual = answer_of(GetParam(), problem, 2);
    EXPECT_THAT(disagreements(problem.spec, actual, expected, tolerance_of(GetParam())), IsEmpty());
  });
}

TEST_P(Conformance, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<int> sizes = GetParam() == "reference" ? std::vector{1, 7} : std::vector{1, 7, 129};
  for (const int size : sizes) {
    const Problem problem = usual(size);
    const Answer one = answer_of(GetParam(), problem, 1);
    for (const int threads : {2, 3}) {
      expect_same(answer_of(GetParam(), problem, threads), one,
                  fmt::format("{} threads, {} images", threads, size));
    }
  }
}

// What a larger batch leaves behind must not leak into a smaller one, nor room that is not used.
TEST_P(Conformance, ForgetsTheBatchBefore) {
  base::ThreadPool pool(2);
  const Problem large = usual(20), small = usual(9);
  const auto used = make_engine(GetParam(), large.spec, 20, pool);
  answer_of(*used, large);
  expect_same(answer_of(*used, small), answer_of(GetParam(), small, 2), "after a larger batch");
}

TEST_P(Conformance, TheFrozenGradientIsTheMeanOfTheImageGradients) {
  const Answer answer = answer_of(GetParam(), usual(11), 2);
  ASSERT_EQ(answer.by_image.size(), 11u);
  std::vector<double> mean(answer.frozen.size());
  for (const auto& image : answer.by_image) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += image[i] / 11.0;
  }
  EXPECT_LT(relative_distance(answer.frozen, mean), tolerance_of(GetParam()).gradient);
}

TEST_P(Conformance, AnImageHasTheSameLogitsWhereverItIsInTheBatch) {
  Problem many = usual(1);
  const std::vector<float> one = many.images;
  for (int i = 1; i < 19; ++i) {
    many.images.insert(many.images.end(), one.begin(), one.end());
    many.labels.push_back(many.labels[0]);
  }
  const Answer answer = answer_of(GetParam(), many, 2);
  for (std::size_t i = 10; i < answer.logits.size(); ++i) {
    ASSERT_EQ(answer.logits[i], answer.logits[i % 10]) << "image " << i / 10;
  }
}

TEST_P(Conformance, RefusesBatchesThatCannotBe) {
  const Problem problem = usual(4);
  base::ThreadPool pool(1);
  const auto engine = make_engine(GetParam(), problem.spec, 4, pool);
  const auto images = images_for(problem, engine->input_layout());
  const auto loss = make_loss("cross_entropy", {});
  std::vector<float> gradient(problem.parameters.size()), buffers = problem.buffers, logits(40);
  const auto step = [&](const Batch& batch) {
    engine->gradient(problem.parameters, buffers, batch, *loss, gradient);
  };
  const std::vector<std::int32_t> wrong = {0, 1, 10, 2}, five = {0, 1, 2, 3, 4};
  EXPECT_THROW(step({images.data(), wrong, 4}), base::Error);
  EXPECT_THROW(step({images.data(), five, 5}), base::Error);
  EXPECT_THROW(step({images.data(), five, 4}), base::Error);
  EXPECT_THROW(step({images.data(), {}, 0}), base::Error);
  EXPECT_THROW(engine->predict(problem.parameters, buffers, {images.data(), {}, 9}, logits), base::Error);
}

// A ReLU makes zero of NaN in many instruction sets; training must see it all the same.
TEST_P(Conformance, WhatIsNotFiniteIsNotLost) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Problem problem = usual(3);
    problem.images[5000] = bad;  // of the second image
    const Answer answer = answer_of(GetParam(), problem, 2);
    EXPECT_TRUE(std::isnan(answer.step.loss));
    EXPECT_TRUE(std::isnan(answer.gradient[0]) && std::isnan(answer.gradient.back()));
    EXPECT_TRUE(std::isnan(answer.frozen[0]));
    for (const std::size_t at :
         {std::size_t{40}, problem.parameters.size() / 2, problem.parameters.size() - 1}) {
      Problem broken = usual(2);
      broken.parameters[at] = bad;
      EXPECT_TRUE(std::isnan(answer_of(GetParam(), broken, 2).logits[0])) << "parameter " << at;
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
std::vector<std::string> all_but_the_reference() {
  std::vector<std::string> names = engines_for({});
  std::erase(names, "reference");
  return names;
}
INSTANTIATE_TEST_SUITE_P(Engines, Conformance, testing::ValuesIn(engines_for({})), name_of);
INSTANTIATE_TEST_SUITE_P(Engines, Agreement, testing::ValuesIn(all_but_the_reference()), name_of);

}  // namespace
}  // namespace longtail::nn
