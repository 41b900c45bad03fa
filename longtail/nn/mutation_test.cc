// The conformance suite's judge itself: engines broken on purpose, one way each, must all be caught.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "longtail/nn/conformance.h"
#include "longtail/nn/reference_backend.h"
#include "longtail/nn/resnet_engine.h"

namespace longtail::nn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What a mutant does beside what the reference does; an empty function does nothing.
struct Mutation {
  std::string name;
  using OnSlice = std::function<void(std::size_t block, const Slice<double>&)>;
  OnSlice after_stem{}, after_first{}, after_second{};  // forward
  OnSlice after_second_backward{}, after_first_backward{}, after_stem_backward{};
  std::function<void(int image, double* features)> features{};          // of one image, in training
  std::function<void(int image, double* gradient)> feature_gradient{};  // likewise
  std::function<void(Packing, const NetworkPlan&, std::vector<double>&)> weights{};
  std::function<void(const ConvUnit&, double* weights)> unpacked{};
  std::function<void(std::vector<float>&, const NetworkPlan&)> images{};
  std::function<void(int image, double* features)> predicted{};
  int block_left_out = -1;  // of prediction
};

class BrokenBackend final : public Backend<double> {
 public:
  BrokenBackend(const ResNetSpec& spec, int max_batch, int workers, const Mutation& mutation)
      : plan_(network_plan(spec)), inner_(make_reference_backend(spec, max_batch, workers)), m_(mutation) {}

  std::string_view name() const override { return "broken"; }
  data::PixelLayout input_layout() const override { return inner_->input_layout(); }
  int slice_images() const override { return inner_->slice_images(); }
  std::size_t weight_sums(const ConvUnit& unit) const override { return inner_->weight_sums(unit); }
  void allocate_training() override { inner_->allocate_training(); }
  void begin(const StepInput<double>& step) override {
    StepInput<double> changed = step;
    if (m_.images) {
      const data::ImageShape shape{plan_.channels(), plan_.side};
      const auto* from = static_cast<const float*>(step.images);
      images_.assign(from, from + static_cast<std::size_t>(step.batch) * shape.values());
      m_.images(images_, plan_);
      changed.images = images_.data();
    }
    inner_->begin(changed);
  }
  int pack_pieces(Packing packing) const override { return inner_->pack_pieces(packing); }
  void pack(Packing packing, int piece, int worker, std::span<const double> parameters) override {
    if (!m_.weights) return inner_->pack(packing, piece, worker, parameters);
    weights_.assign(parameters.begin(), parameters.end());
    m_.weights(packing, plan_, weights_);
    inner_->pack(packing, piece, worker, weights_);
  }

  void stem_forward(const Slice<double>& s) override {
    inner_->stem_forward(s);
    if (m_.after_stem) m_.after_stem(0, s);
  }
  void first_forward(std::size_t b, const Slice<double>& s) override {
    inner_->first_forward(b, s);
    if (m_.after_first) m_.after_first(b, s);
  }
  void second_forward(std::size_t b, const Slice<double>& s) override {
    inner_->second_forward(b, s);
    if (m_.after_second) m_.after_second(b, s);
  }
  void features_forward(const Slice<double>& s, double* features) override {
    inner_->features_forward(s, features);
    for (int i = s.first; m_.features && i < s.last; ++i) m_.features(i, features + i * plan_.features);
  }
  void features_backward(const Slice<double>& s, const double* gradients) override {
    if (!m_.feature_gradient) return inner_->features_backward(s, gradients);
    std::vector<double> changed(gradients, gradients + s.last * plan_.features);
    for (int i = s.first; i < s.last; ++i) m_.feature_gradient(i, changed.data() + i * plan_.features);
    inner_->features_backward(s, changed.data());
  }
  void second_backward(std::size_t b, const Slice<double>& s) override {
    inner_->second_backward(b, s);
    if (m_.after_second_backward) m_.after_second_backward(b, s);
  }
  void first_backward(std::size_t b, const Slice<double>& s) override {
    inner_->first_backward(b, s);
    if (m_.after_first_backward) m_.after_first_backward(b, s);
  }
  void stem_backward(const Slice<double>& s) override {
    inner_->stem_backward(s);
    if (m_.after_stem_backward) m_.after_stem_backward(0, s);
  }
  void unpack_weights(const ConvUnit& unit, const double* sums, int first, int last,
                      double* weights) override {
    inner_->unpack_weights(unit, sums, first, last, weights);
    if (m_.unpacked) m_.unpacked(unit, weights);
  }
  int predict_images() const override { return 1; }
  void predict_stem(const Slice<double>& s) override { inner_->predict_stem(s); }
  void predict_block(std::size_t b, const Slice<double>& s) override {
    if (static_cast<int>(b) != m_.block_left_out) inner_->predict_block(b, s);
  }
  void predict_features(const Slice<double>& s, double* features) override {
    inner_->predict_features(s, features);
    if (m_.predicted) m_.predicted(s.first, features + s.first * plan_.features);
  }

 private:
  NetworkPlan plan_;
  std::unique_ptr<Backend<double>> inner_;
  Mutation m_;
  std::vector<float> images_;
  std::vector<double> weights_;
};

void negate(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = -values[i];
}
bool is_small(const ConvUnit& unit) { return unit.out == 16 && unit.in == 16; }
// visit(weight at (output, input, tap)) of the second convolution of the last block.
template <class Visit>
void each_weight(const NetworkPlan& plan, std::vector<double>& all, const Visit& visit) {
  const ConvUnit& unit = plan.blocks.back().second;
  double* w = all.data() + unit.weight;
  for (int o = 0; o < unit.out; ++o)
    for (int i = 0; i < unit.in; ++i)
      for (int tap = 0; tap < 9; ++tap, ++w) visit(o, i, tap, *w);
}

std::vector<Mutation> mutations() {
  std::vector<Mutation> all;
  const auto add = [&all](const char* name) -> Mutation& {
    all.push_back({.name = name});
    return all.back();
  };
  add("the sign of a sum of the stem").after_stem = [](auto, const auto& s) { negate(s.sums.sum[0], 1); };
  add("a sum of squares left out").after_stem = [](auto, const auto& s) { s.sums.product[0][3] = 0; };
  add("the sums of one slice left out").after_stem = [](auto, const auto& s) {
    if (s.index == 1) std::fill_n(s.sums.sum[0], 16, 0.0);
  };
  add("sums added twice").after_second = [](auto b, const auto& s) {
    for (int c = 0; b == 4 && c < 32; ++c) s.sums.sum[0][c] *= 2;
  };
  add("the projection's sums left out").after_first = [](auto b, const auto& s) {
    if (b == 3) std::fill_n(s.sums.sum[1], 32, 0.0);
  };
  add("NaN in a sum").after_first = [](auto b, const auto& s) {
    if (b == 2) s.sums.sum[0][5] = kNan;
  };
  add("NaN in a feature").features = [](int, double* f) { f[7] = kNan; };
  add("the features of one image are zero").features = [](int i, double* f) {
    if (i == 2) std::fill_n(f, 64, 0.0);
  };
  add("a tile of sixteen features is zero").features = [](int, double* f) { std::fill_n(f + 16, 16, 0.0); };
  add("the sign of the features' gradient").feature_gradient = [](int, double* g) { negate(g, 64); };
  add("the features' gradient of one image").feature_gradient = [](int i, double* g) {
    if (i == 1) std::fill_n(g, 64, 0.0);
  };
  add("the sign of a weight gradient").after_second_backward = [](auto b, const auto& s) {
    if (b == 0) negate(s.weight_sums, 9 * 16 * 16);
  };
  add("a column of tiles missing in a weight gradient").after_second_backward = [](auto b, const auto& s) {
    if (b == 8) std::fill_n(s.weight_sums, 16 * 64 * 9, 0.0);
  };
  add("a projection's weight gradient left out").after_first_backward = [](auto b, const auto& s) {
    if (b == 3) std::fill_n(s.projection_sums, 16 * 32, 0.0);
  };
  add("a weight gradient of one slice counted twice").after_first_backward = [](auto b, const auto& s) {
    for (int i = 0; b == 4 && s.index == 0 && i < 32 * 32 * 9; ++i) s.weight_sums[i] *= 2;
  };
  add("the stem's weight gradient left out").after_stem_backward = [](auto, const auto& s) {
    std::fill_n(s.weight_sums, 16 * 27, 0.0);
  };
  add("a gradient sum of a batch norm").after_first_backward = [](auto b, const auto& s) {
    if (b == 1) s.sums.sum[0][2] = 0;
  };
  add("a gradient product of a batch norm").after_second_backward = [](auto b, const auto& s) {
    if (b == 6) negate(s.sums.product[0], 64);
  };
  add("rows and columns of a kernel exchanged").unpacked = [](const ConvUnit& unit, double* w) {
    for (int k = 0; is_small(unit) && k < 256; ++k) std::swap(w[9 * k + 1], w[9 * k + 3]);
  };
  add("the last output channel left as it was").unpacked = [](const ConvUnit& unit, double* w) {
    if (unit.out == 64 && unit.kernel == 3)
      std::fill_n(w + unit.weight_size() - 9 * unit.in, 9 * unit.in, 0.0);
  };
  add("a single 3x3 kernel left as it was").unpacked = [](const ConvUnit& unit, double* w) {
    if (unit.out == 64 && unit.kernel == 3) std::fill_n(w + unit.weight_size() - 9, 9, 0.0);
  };
  add("NaN in one weight's gradient").unpacked = [](const ConvUnit& unit, double* w) {
    if (is_small(unit)) w[100] = kNan;
  };
  add("sixteen input channels not multiplied").weights = [](Packing, const NetworkPlan& plan,
                                                            auto& all_weights) {
    each_weight(plan, all_weights, [](int, int i, int, double& w) { w = i >= 48 ? 0 : w; });
  };
  add("one tap of a kernel left out").weights = [](Packing, const NetworkPlan& plan, auto& all_weights) {
    each_weight(plan, all_weights, [](int, int, int tap, double& w) { w = tap == 8 ? 0 : w; });
  };
  add("the sign of one weight").weights = [](Packing, const NetworkPlan& plan, auto& all_weights) {
    all_weights[static_cast<std::size_t>(plan.stem.weight)] *= -1;
  };
  add("an output channel missing in prediction").weights = [](Packing packing, const NetworkPlan& plan,
                                                              auto& all_weights) {
    each_weight(plan, all_weights, [packing](int o, int, int, double& w) {
      if (packing == Packing::kPrediction && o == 63) w = 0;
    });
  };
  add("one class of pixels is black").images = [](std::vector<float>& pixels, const NetworkPlan& plan) {
    const auto side = static_cast<std::size_t>(plan.side);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      if (i % side == side - 1) pixels[i] = 0;
    }
  };
  add("two images exchanged").images = [](std::vector<float>& pixels, const NetworkPlan& plan) {
    const auto size = data::ImageShape{plan.channels(), plan.side}.values();
    if (pixels.size() >= 2 * size)
      std::swap_ranges(pixels.begin(), pixels.begin() + long(size), pixels.begin() + long(size));
  };
  add("prediction takes the mean over half the pixels").predicted = [](int, double* f) {
    for (int c = 0; c < 64; ++c) f[c] *= 0.5;
  };
  add("prediction leaves out a block").block_left_out = 4;
  return all;
}

Answer answer_of_mutant(const Mutation& mutation, const Problem& problem) {
  base::ThreadPool pool(2);
  const auto backend = [&] {
    return std::make_unique<BrokenBackend>(problem.spec, problem.size(), 2, mutation);
  };
  return answer_of(*make_resnet_engine<double>(problem.spec, problem.size(), pool, backend()), problem);
}

TEST(Mutation, EveryBrokenEngineIsCaughtAndTheWholeOneIsNot) {
  const Problem problem = exact_problem(make_spec("resnet20", "projection", 10, 3, 1, 16), 3);
  const Answer expected = answer_of("reference", problem, 2);
  EXPECT_THAT(disagreements(problem.spec, answer_of_mutant({.name = "none"}, problem), expected, {}),
              testing::IsEmpty());
  const std::vector<Mutation> all = mutations();
  ASSERT_GE(all.size(), 20u);
  for (const Mutation& mutation : all) {
    const auto found = disagreements(problem.spec, answer_of_mutant(mutation, problem), expected, {});
    EXPECT_THAT(found, testing::Not(testing::IsEmpty())) << mutation.name;
    if (!found.empty()) std::printf("  %-55s %s\n", mutation.name.c_str(), found.front().c_str());
  }
}

}  // namespace
}  // namespace longtail::nn
