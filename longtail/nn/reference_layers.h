// Every kind of layer in plain loops, one scalar at a time, forward and backward: what the backend
// `reference` is made of. Slow, obvious, and sharing no arithmetic with any other engine. Tensors are NCHW.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace longtail::nn::reference {

inline constexpr double kEpsilon = 1e-5;  // of the batch norm

template <class T>
struct Tensor {
  int batch = 0, channels = 0, side = 0;
  std::vector<T> values;

  Tensor() = default;
  Tensor(int n, int c, int s)
      : batch(n), channels(c), side(s), values(static_cast<std::size_t>(n) * c * s * s, T(0)) {}
  std::size_t at(int n, int c, int y, int x) const {
    return ((static_cast<std::size_t>(n) * channels + c) * side + y) * side + x;
  }
  T& operator()(int n, int c, int y, int x) { return values[at(n, c, y, x)]; }
  const T& operator()(int n, int c, int y, int x) const { return values[at(n, c, y, x)]; }
};

// Every row of products of a convolution: visit(output, input, count, w) means that outputs [output, output +
// count) read inputs input, input + stride, ... with the weight of index w. The three convolutions below are
// three uses of it.
template <class Visit>
void for_each_row(int batch, int out, int in, int kernel, int stride, int in_side, const Visit& visit) {
  const int side = in_side / stride;
  const int padding = kernel / 2;
  const auto at = [](int n, int channels, int c, int rows, int y) {
    return ((static_cast<std::size_t>(n) * channels + c) * rows + y) * rows;
  };
  for (int n = 0; n < batch; ++n)
    for (int o = 0; o < out; ++o)
      for (int i = 0; i < in; ++i)
        for (int y = 0; y < side; ++y)
          for (int ky = 0; ky < kernel; ++ky)
            for (int kx = 0; kx < kernel; ++kx) {
              const int v = y * stride + ky - padding;
              if (v < 0 || v >= in_side) continue;
              // The first and the last x whose input lies inside the image.
              const int first = kx < padding ? 1 : 0;
              int last = side - 1;
              while (last * stride + kx - padding >= in_side) --last;
              const std::size_t w = ((static_cast<std::size_t>(o) * in + i) * kernel + ky) * kernel + kx;
              visit(at(n, out, o, side, y) + first, at(n, in, i, in_side, v) + first * stride + kx - padding,
                    last - first + 1, w);
            }
}

// to[x] += factor * from[x], with steps between the values.
template <class T>
void add_row(int count, T factor, const T* __restrict from, int from_step, T* __restrict to, int to_step) {
  if (from_step == 1 && to_step == 1) {  // nearly always: a loop that compilers vectorise
    for (int x = 0; x < count; ++x) to[x] += from[x] * factor;
  } else {
    for (int x = 0; x < count; ++x) to[x * to_step] += from[x * from_step] * factor;
  }
}
// Four sums, since a single one would wait for every addition.
template <class T>
T inner_product(int count, const T* a, const T* b, int b_step) {
  T sum[4] = {};
  int x = 0;
  for (; x + 4 <= count; x += 4) {
    for (int k = 0; k < 4; ++k) sum[k] += a[x + k] * b[(x + k) * b_step];
  }
  for (; x < count; ++x) sum[0] += a[x] * b[x * b_step];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class T>
Tensor<T> convolve(const Tensor<T>& input, std::span<const T> weights, int out, int kernel, int stride) {
  Tensor<T> result(input.batch, out, input.side / stride);
  for_each_row(input.batch, out, input.channels, kernel, stride, input.side,
               [&](std::size_t to, std::size_t from, int count, std::size_t w) {
                 add_row(count, weights[w], &input.values[from], stride, &result.values[to], 1);
               });
  return result;
}

template <class T>
Tensor<T> convolve_data(const Tensor<T>& upstream, std::span<const T> weights, int in, int kernel, int stride,
                        int in_side) {
  Tensor<T> result(upstream.batch, in, in_side);
  for_each_row(upstream.batch, upstream.channels, in, kernel, stride, in_side,
               [&](std::size_t from, std::size_t to, int count, std::size_t w) {
                 add_row(count, weights[w], &upstream.values[from], 1, &result.values[to], stride);
               });
  return result;
}

template <class T>
void convolve_weights(const Tensor<T>& input, const Tensor<T>& upstream, int kernel, int stride,
                      std::span<T> gradient) {
  for_each_row(input.batch, upstream.channels, input.channels, kernel, stride, input.side,
               [&](std::size_t out, std::size_t in, int count, std::size_t w) {
                 gradient[w] += inner_product(count, &upstream.values[out], &input.values[in], stride);
               });
}

template <class T>
struct Statistics {
  std::vector<T> mean, variance;  // of a channel; the variance is the biased one
};

template <class T>
Statistics<T> batch_statistics(const Tensor<T>& input) {
  Statistics<T> result{std::vector<T>(input.channels), std::vector<T>(input.channels)};
  const T count = static_cast<T>(input.batch) * input.side * input.side;
  for (int c = 0; c < input.channels; ++c) {
    T sum = 0, squares = 0;
    for (int n = 0; n < input.batch; ++n)
      for (int p = 0; p < input.side * input.side; ++p) sum += input.values[input.at(n, c, 0, 0) + p];
    const T mean = sum / count;
    for (int n = 0; n < input.batch; ++n)
      for (int p = 0; p < input.side * input.side; ++p) {
        const T deviation = input.values[input.at(n, c, 0, 0) + p] - mean;
        squares += deviation * deviation;
      }
    result.mean[c] = mean;
    result.variance[c] = squares / count;
  }
  return result;
}

template <class T>
Tensor<T> normalise(const Tensor<T>& input, const Statistics<T>& statistics, std::span<const T> gamma,
                    std::span<const T> beta) {
  Tensor<T> result(input.batch, input.channels, input.side);
  for (int n = 0; n < input.batch; ++n)
    for (int c = 0; c < input.channels; ++c) {
      const T scale = gamma[c] / std::sqrt(statistics.variance[c] + T(kEpsilon));
      for (int p = 0; p < input.side * input.side; ++p) {
        const std::size_t i = input.at(n, c, 0, 0) + p;
        result.values[i] = (input.values[i] - statistics.mean[c]) * scale + beta[c];
      }
    }
  return result;
}

// With `of_batch` the statistics depend on the input; otherwise they are constants.
template <class T>
Tensor<T> normalise_backward(const Tensor<T>& input, const Statistics<T>& statistics,
                             std::span<const T> gamma, const Tensor<T>& upstream, bool of_batch,
                             std::span<T> gamma_gradient, std::span<T> beta_gradient) {
  Tensor<T> result(input.batch, input.channels, input.side);
  const int pixels = input.side * input.side;
  const T count = static_cast<T>(input.batch) * pixels;
  for (int c = 0; c < input.channels; ++c) {
    const T inverse = 1 / std::sqrt(statistics.variance[c] + T(kEpsilon));
    T sum = 0, product = 0;
    for (int n = 0; n < input.batch; ++n)
      for (int p = 0; p < pixels; ++p) {
        const std::size_t i = input.at(n, c, 0, 0) + p;
        sum += upstream.values[i];
        product += upstream.values[i] * (input.values[i] - statistics.mean[c]) * inverse;
      }
    gamma_gradient[c] += product;
    beta_gradient[c] += sum;
    for (int n = 0; n < input.batch; ++n)
      for (int p = 0; p < pixels; ++p) {
        const std::size_t i = input.at(n, c, 0, 0) + p;
        T slope = upstream.values[i];
        if (of_batch) slope -= (sum + (input.values[i] - statistics.mean[c]) * inverse * product) / count;
        result.values[i] = gamma[c] * inverse * slope;
      }
  }
  return result;
}

template <class T>
Tensor<T> relu(Tensor<T> input) {
  for (T& value : input.values) value = value > 0 ? value : T(0);
  return input;
}

template <class T>
void relu_backward(const Tensor<T>& output, Tensor<T>& upstream) {
  for (std::size_t i = 0; i < output.values.size(); ++i) {
    if (!(output.values[i] > 0)) upstream.values[i] = 0;
  }
}

template <class T>
void add(Tensor<T>& sum, const Tensor<T>& term) {
  for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += term.values[i];
}

// Every stride-th pixel, with as many zero channels before as after.
template <class T>
Tensor<T> pad_shortcut(const Tensor<T>& input, int out, int stride) {
  Tensor<T> result(input.batch, out, input.side / stride);
  const int before = (out - input.channels) / 2;
  for (int n = 0; n < input.batch; ++n)
    for (int c = 0; c < input.channels; ++c)
      for (int y = 0; y < result.side; ++y)
        for (int x = 0; x < result.side; ++x)
          result(n, c + before, y, x) = input(n, c, y * stride, x * stride);
  return result;
}

template <class T>
Tensor<T> pad_shortcut_backward(const Tensor<T>& upstream, int in, int stride) {
  Tensor<T> result(upstream.batch, in, upstream.side * stride);
  const int before = (upstream.channels - in) / 2;
  for (int n = 0; n < upstream.batch; ++n)
    for (int c = 0; c < in; ++c)
      for (int y = 0; y < upstream.side; ++y)
        for (int x = 0; x < upstream.side; ++x)
          result(n, c, y * stride, x * stride) = upstream(n, c + before, y, x);
  return result;
}

// batch x channels.
template <class T>
std::vector<T> mean_pixels(const Tensor<T>& input) {
  const int pixels = input.side * input.side;
  std::vector<T> result(static_cast<std::size_t>(input.batch) * input.channels, T(0));
  for (std::size_t i = 0; i < input.values.size(); ++i) result[i / pixels] += input.values[i] / pixels;
  return result;
}

template <class T>
Tensor<T> mean_pixels_backward(const std::vector<T>& upstream, const Tensor<T>& like) {
  Tensor<T> result(like.batch, like.channels, like.side);
  const int pixels = like.side * like.side;
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] = upstream[i / pixels] / pixels;
  return result;
}

// Weight: classes x features. Returns batch x classes.
template <class T>
std::vector<T> linear(const std::vector<T>& features, std::span<const T> weight, std::span<const T> bias,
                      int batch) {
  const std::size_t width = features.size() / batch;
  std::vector<T> result;
  for (int n = 0; n < batch; ++n)
    for (std::size_t k = 0; k < bias.size(); ++k) {
      T sum = bias[k];
      for (std::size_t f = 0; f < width; ++f) sum += features[n * width + f] * weight[k * width + f];
      result.push_back(sum);
    }
  return result;
}

template <class T>
std::vector<T> linear_backward(const std::vector<T>& features, std::span<const T> weight,
                               const std::vector<T>& slope, int batch, std::span<T> weight_gradient,
                               std::span<T> bias_gradient) {
  const std::size_t width = features.size() / batch;
  const std::size_t classes = bias_gradient.size();
  std::vector<T> result(features.size(), T(0));
  for (int n = 0; n < batch; ++n)
    for (std::size_t k = 0; k < classes; ++k) {
      const T g = slope[n * classes + k];
      bias_gradient[k] += g;
      for (std::size_t f = 0; f < width; ++f) {
        weight_gradient[k * width + f] += g * features[n * width + f];
        result[n * width + f] += g * weight[k * width + f];
      }
    }
  return result;
}

// Loss of one image and its gradient with respect to the logits.
template <class T>
T cross_entropy(std::span<const T> logits, std::int32_t label, std::span<T> gradient) {
  const T top = *std::max_element(logits.begin(), logits.end());
  T total = 0;
  for (const T logit : logits) total += std::exp(logit - top);
  for (std::size_t k = 0; k < logits.size(); ++k) gradient[k] = std::exp(logits[k] - top) / total;
  gradient[static_cast<std::size_t>(label)] -= 1;
  return std::log(total) + top - logits[static_cast<std::size_t>(label)];
}

}  // namespace longtail::nn::reference
