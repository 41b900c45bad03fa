// Head, medium and tail: a named way to divide the classes by their number of training images.
//   paper: head n > 100, medium 20 < n <= 100, tail n <= 20
//   field: head n > 100, medium 20 <= n <= 100, tail n < 20
//   auto:  thirds of the classes by size, as nearly as possible; classes of equal size stay together
//   thresholds:head=A,tail=B, or A,B for short: head n > A, medium B < n <= A, tail n <= B
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::data {

enum class Group { kHead = 0, kMedium = 1, kTail = 2 };
inline constexpr std::array<std::string_view, 3> kGroupNames = {"head", "medium", "tail"};

class Groups {
 public:
  // An Error says what a definition looks like.
  static Groups parse(std::string_view text);

  // A copy with the thresholds decided: `auto` cuts these classes into thirds; any other definition stays as
  // it is.
  Groups decided(std::span<const std::int64_t> counts) const;

  // The group of a class with `count` training images. `auto` must be decided first.
  Group of(std::int64_t count) const;
  // The group of each class.
  std::vector<Group> of(std::span<const std::int64_t> counts) const;
  // Number of classes in head, medium, tail.
  std::array<int, 3> sizes(std::span<const std::int64_t> counts) const;
  // The same without classes that have no training image, which are neither trained nor tested. With `tested`
  // (test images of each class), also without classes that have no test image.
  std::array<int, 3> trained_sizes(std::span<const std::int64_t> counts,
                                   std::span<const std::int64_t> tested = {}) const;
  // The largest number of images of a tail class, and of a medium class.
  std::array<std::int64_t, 2> thresholds() const { return {tail_up_to_, head_above_}; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::int64_t head_above_ = 100;  // head: n > head_above_
  std::int64_t tail_up_to_ = 20;   // tail: n <= tail_up_to_
  bool undecided_ = false;         // auto, before it has seen the classes
};

}  // namespace longtail::data
