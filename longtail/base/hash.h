// Hashes: MD5 or SHA-1 where that is what is known of somebody's files, SHA-256 for everything of our own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace longtail::base {

// Incremental: Hasher h(Hasher::kSha256); h.add(bytes); h.hex().
class Hasher {
 public:
  enum Kind { kMd5, kSha1, kSha256 };
  explicit Hasher(Kind kind);
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(std::span<const T> values) { add(std::as_bytes(values)); }
  // Lower-case hexadecimal digest; the hasher is then spent.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string md5(std::span<const std::byte> bytes);
std::string sha1(std::span<const std::byte> bytes);
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace longtail::base
