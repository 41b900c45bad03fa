// The reference itself against finite differences, in double: every kind of layer, then whole networks.
#include "longtail/nn/reference_layers.h"

#include <gtest/gtest.h>

#include <functional>

#include "longtail/nn/reference_backend.h"
#include "longtail/nn/resnet_walk.h"
#include "longtail/nn/testing.h"

namespace longtail::nn::reference {
namespace {

std::vector<double> numbers(std::size_t count, std::uint32_t what) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = noise(what, i);
  return values;
}

Tensor<double> tensor(int batch, int channels, int side, std::uint32_t what) {
  Tensor<double> t(batch, channels, side);
  t.values = numbers(t.values.size(), what);
  return t;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// For every entry of `point`: the slope of f by central difference equals `gradient`.
void expect_gradient(std::vector<double>& point, const std::vector<double>& gradient,
                     const std::function<double()>& f) {
  ASSERT_EQ(point.size(), gradient.size());
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double kept = point[i], step = 1e-5;
    point[i] = kept + step;
    const double above = f();
    point[i] = kept - step;
    const double below = f();
    point[i] = kept;
    EXPECT_NEAR((above - below) / (2 * step), gradient[i], 1e-7 * (1 + std::abs(gradient[i])))
        << "entry " << i;
  }
}

TEST(Reference, ConvolutionGradientsAreFiniteDifferences) {
  struct Case {
    int in, out, kernel, stride, side;
  };
  for (const Case c : {Case{3, 2, 3, 1, 4}, Case{1, 4, 3, 1, 4}, Case{2, 3, 3, 2, 6}, Case{2, 3, 1, 2, 4}}) {
    Tensor<double> x = tensor(2, c.in, c.side, 10);
    std::vector<double> w = numbers(static_cast<std::size_t>(c.out * c.in * c.kernel * c.kernel), 11);
    const Tensor<double> upstream = tensor(2, c.out, c.side / c.stride, 12);
    const auto f = [&] {
      return dot(convolve<double>(x, w, c.out, c.kernel, c.stride).values, upstream.values);
    };
    expect_gradient(x.values, convolve_data<double>(upstream, w, c.in, c.kernel, c.stride, c.side).values, f);
    std::vector<double> weight_gradient(w.size());
    convolve_weights<double>(x, upstream, c.kernel, c.stride, weight_gradient);
    expect_gradient(w, weight_gradient, f);
  }
}

TEST(Reference, BatchNormGradientsAreFiniteDifferences) {
  for (const bool of_batch : {true, false}) {
    Tensor<double> x = tensor(3, 2, 3, 20);
    std::vector<double> gamma = {1.3, -0.7}, beta = {0.2, 0.1};
    const Tensor<double> upstream = tensor(3, 2, 3, 21);
    const Statistics<double> fixed{{0.1, -0.2}, {0.5, 2.0}};
    const auto statistics = [&] { return of_batch ? batch_statistics(x) : fixed; };
    const auto f = [&] {
      return dot(normalise<double>(x, statistics(), gamma, beta).values, upstream.values);
    };
    std::vector<double> gamma_gradient(2), beta_gradient(2);
    const auto gradient =
        normalise_backward<double>(x, statistics(), gamma, upstream, of_batch, gamma_gradient, beta_gradient);
    expect_gradient(x.values, gradient.values, f);
    expect_gradient(gamma, gamma_gradient, f);
    expect_gradient(beta, beta_gradient, f);
  }
}

TEST(Reference, GradientsOfReluPadAndMeanAreFiniteDifferences) {
  Tensor<double> x = tensor(2, 2, 4, 30);
  Tensor<double> upstream = tensor(2, 2, 4, 31);
  const auto passed = [&] {
    Tensor<double> d = upstream;
    relu_backward(relu(x), d);
    return d.values;
  };
  expect_gradient(x.values, passed(), [&] { return dot(relu(x).values, upstream.values); });

  const Tensor<double> padded = tensor(2, 4, 2, 32);
  expect_gradient(x.values, pad_shortcut_backward(padded, 2, 2).values,
                  [&] { return dot(pad_shortcut(x, 4, 2).values, padded.values); });

  const std::vector<double> features = numbers(4, 33);
  expect_gradient(x.values, mean_pixels_backward(features, x).values,
                  [&] { return dot(mean_pixels(x), features); });
}

TEST(Reference, LinearAndCrossEntropyGradientsAreFiniteDifferences) {
  std::vector<double> x = numbers(6, 40), w = numbers(12, 41), bias = numbers(4, 42);
  const auto loss = [&](std::vector<double>* slopes) {
    const std::vector<double> logits = linear<double>(x, w, bias, 2);
    double sum = 0;
    std::vector<double> all(8);
    for (std::size_t n = 0; n < 2; ++n) {
      sum += cross_entropy<double>(std::span<const double>(logits).subspan(4 * n, 4), static_cast<int>(3 * n),
                                   std::span(all).subspan(4 * n, 4));
    }
    if (slopes) *slopes = all;
    return sum;
  };
  std::vector<double> slopes, weight_gradient(12), bias_gradient(4);
  loss(&slopes);
  const auto input_gradient = linear_backward<double>(x, w, slopes, 2, weight_gradient, bias_gradient);
  const auto f = [&] { return loss(nullptr); };
  expect_gradient(x, input_gradient, f);
  expect_gradient(w, weight_gradient, f);
  expect_gradient(bias, bias_gradient, f);
}

// Along random directions through all parameters at once, in both modes: the walk, the classifier and the
// backend together.
TEST(Reference, WholeNetworkGradientsAreFiniteDifferences) {
  base::ThreadPool pool(2);
  for (const ResNetSpec& spec :
       {make_spec("resnet20", "projection", 3, 1), make_spec("resnet20", "projection", 3, 3),
        make_spec("resnet20", "pad", 3, 1), make_spec("resnet20", "pad", 3, 3),
        make_spec("resnet20", "projection", 3, 3, 2, 16), make_spec("resnet20", "pad", 3, 1, 1, 24)}) {
    const Problem problem = make_problem(spec, 2);
    ResNetWalk<double> walk(spec, 2, pool, make_reference_backend(spec, 2, 2));
    const std::vector<double> parameters(problem.parameters.begin(), problem.parameters.end());
    const std::vector<double> direction = numbers(parameters.size(), 50);
    std::vector<double> losses(2);
    const auto score = [&](int image, std::span<const double> logits, std::span<double> slope, bool&) {
      const auto i = static_cast<std::size_t>(image);
      return losses[i] = cross_entropy<double>(logits, problem.labels[i], slope);
    };
    for (const bool training : {true, false}) {
      std::vector<double> gradient(parameters.size());
      const auto at = [&](double t) {
        std::vector<double> moved = parameters;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += t * direction[i];
        std::vector<double> buffers(problem.buffers.begin(), problem.buffers.end());
        if (training) {
          walk.gradient(moved, buffers, problem.images.data(), 2, score, gradient);
        } else {
          walk.frozen_gradient(moved, buffers, problem.images.data(), 2, score, gradient);
        }
        return (losses[0] + losses[1]) / 2;
      };
      const double step = 1e-8;  // so small that hardly a ReLU changes sides
      const double slope = (at(step) - at(-step)) / (2 * step);
      at(0);
      EXPECT_NEAR(slope / dot(gradient, direction), 1, 1e-4)
          << spec.channels << " channels, side " << spec.side << ", width " << spec.width << ", training "
          << training;
    }
  }
}

}  // namespace
}  // namespace longtail::nn::reference
