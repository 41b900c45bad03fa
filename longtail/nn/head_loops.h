// The loops of the classifier, compiled for several kinds of CPU: head.cc, head_avx2.cc, head_avx512.cc.
// Sixteen lanes in one order and fused multiply-adds give the same bits in all of them. They are in an
// unnamed namespace and use nothing of the standard library, so that no code for one CPU is linked where
// another runs.
#pragma once

namespace longtail::nn {

struct HeadLoops {
  void (*linear_forward)(int features, int classes, const float* weight, const float* bias, const float* x,
                         float* logits);
  void (*weighted_sum)(int features, int rows, const float* values, const float* factors, int stride,
                       float* out);
};
HeadLoops head_loops_avx2();
HeadLoops head_loops_avx512();

namespace {

constexpr int kLanes = 16;  // features are a multiple of it

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

// Products in sixteen lanes, added in the order of a vector's halves, quarters and so on.
template <class T>
T dot(int features, const T* a, const T* b) {
  T lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = a[l] * b[l];
  for (int f = kLanes; f < features; f += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] = fused(a[f + l], b[f + l], lane[l]);
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

template <class T>
void logits_of(int features, int classes, const T* weight, const T* bias, const T* x, T* logits) {
  for (int c = 0; c < classes; ++c) {
    logits[c] = dot(features, weight + static_cast<long>(c) * features, x) + bias[c];
  }
}

// Row by row, in sums of sixteen features that stay in registers.
template <class T>
void combine(int features, int rows, const T* values, const T* factors, int stride, T* out) {
  for (int f = 0; f < features; f += kLanes) {
    T lane[kLanes] = {};
    for (int r = 0; r < rows; ++r) {
      const T d = factors[static_cast<long>(r) * stride];
      const T* row = values + static_cast<long>(r) * features + f;
      for (int l = 0; l < kLanes; ++l) lane[l] = fused(row[l], d, lane[l]);
    }
    for (int l = 0; l < kLanes; ++l) out[f + l] = lane[l];
  }
}

}  // namespace
}  // namespace longtail::nn
