// A convolution of one image as plain loops, and the operands of the kernels for it. Only tests include this.
#pragma once

#include <vector>

#include "longtail/nn/amx/amx_testing.h"
#include "longtail/nn/amx/geometry.h"

namespace longtail::nn::amx {

inline constexpr ConvKind kSame[] = {ConvKind::kSame16, ConvKind::kSame32, ConvKind::kSame64};

inline int side_of(int pixels) { return pixels == 1024 ? 32 : pixels == 256 ? 16 : 8; }
inline std::size_t pixel_at(int side, int y, int x) {
  return static_cast<std::size_t>(side == 8 ? interleaved8(y, x) : y * side + x);
}
inline std::size_t z(int n) { return static_cast<std::size_t>(n); }

// One convolution of one image: shapes, operands, and the plain loops.
struct Plain {
  int in, out, in_side, out_side, kernel;
  std::vector<Bf16> x;   // pixels x in
  std::vector<Bf16> d;   // pixels x out, a gradient of the output
  std::vector<float> w;  // out, in, kernel, kernel; representable in bf16

  Plain(const Geometry& g, int kernel_size, Numbers& numbers)
      : in(g.in_channels),
        out(g.out_channels),
        in_side(side_of(g.in_pixels)),
        out_side(side_of(g.out_pixels)),
        kernel(kernel_size) {
    x = numbers.bf16(z(g.in_pixels * in));
    d = numbers.bf16(z(g.out_pixels * out));
    for (const Bf16 v : numbers.bf16(z(out * in * kernel * kernel))) w.push_back(widen(v));
  }

  // visit(input element, output element, weight) for every product.
  template <class Visit>
  void each(const Visit& visit) const {
    const int stride = in_side / out_side, pad = kernel / 2;
    for (int y = 0; y < out_side; ++y)
      for (int xx = 0; xx < out_side; ++xx)
        for (int ky = 0; ky < kernel; ++ky)
          for (int kx = 0; kx < kernel; ++kx) {
            const int v = y * stride + ky - pad, u = xx * stride + kx - pad;
            if (v < 0 || v >= in_side || u < 0 || u >= in_side) continue;
            for (int o = 0; o < out; ++o)
              for (int i = 0; i < in; ++i) {
                visit(pixel_at(in_side, v, u) * z(in) + z(i), pixel_at(out_side, y, xx) * z(out) + z(o),
                      z(((o * in + i) * kernel + ky) * kernel + kx));
              }
          }
  }
  std::vector<double> forward() const {
    std::vector<double> result(d.size());
    each([&](std::size_t i, std::size_t o, std::size_t k) { result[o] += double{widen(x[i])} * w[k]; });
    return result;
  }
  std::vector<double> data_gradient() const {
    std::vector<double> result(x.size());
    each([&](std::size_t i, std::size_t o, std::size_t k) { result[i] += double{widen(d[o])} * w[k]; });
    return result;
  }
  std::vector<double> weight_gradient() const {
    std::vector<double> result(w.size());
    each(
        [&](std::size_t i, std::size_t o, std::size_t k) { result[k] += double{widen(x[i])} * widen(d[o]); });
    return result;
  }
};

inline std::vector<Bf16> pack(const std::vector<std::int32_t>& index, const std::vector<float>& weights) {
  std::vector<Bf16> packed(index.size());
  gather_bf16(index.size(), index.data(), weights.data(), packed.data());
  return packed;
}

}  // namespace longtail::nn::amx
