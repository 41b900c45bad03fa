// Zeroed memory for the engines: fresh pages from the system, so zero and on cache-line boundaries, in huge
// pages where the kernel has them. A training step walks over a hundred megabytes of activations, and small
// pages would make it wait for address translation. Pages that are never touched cost nothing.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace longtail::nn {

template <class T>
class Buffer {
  static_assert(std::is_trivial_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes(), MADV_HUGEPAGE);  // a hint: nothing depends on it
    data_ = static_cast<T*>(memory);
  }
  ~Buffer() {
    if (data_ != nullptr) munmap(data_, bytes());
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  std::size_t bytes() const {
    const std::size_t plain = size_ * sizeof(T);
    return plain < kPage ? plain : (plain + kPage - 1) / kPage * kPage;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace longtail::nn
