// Zeroed memory for vector code: aligned to a cache line, large blocks to huge pages. Pages that are never
// touched cost nothing.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace longtail::nn {

template <class T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(std::size_t count) : size_(count) {
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    const std::size_t bytes = std::max(count * sizeof(T), std::size_t{64});
    const std::size_t unit = bytes >= kHuge ? kHuge : 64;
    const std::size_t whole = (bytes + unit - 1) / unit * unit;
    void* memory = std::aligned_alloc(unit, whole);
    if (!memory) throw std::bad_alloc();
    memory_.reset(static_cast<T*>(memory));
    if (unit == kHuge) madvise(memory, whole, MADV_HUGEPAGE);
    // Above 32 MiB the C library always takes fresh pages from the system, which are zero.
    constexpr std::size_t kAlwaysFresh = std::size_t{64} << 20;
    if (whole < kAlwaysFresh) std::memset(memory, 0, whole);
  }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return memory_.get()[i]; }
  const T& operator[](std::size_t i) const { return memory_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T[], Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace longtail::nn
