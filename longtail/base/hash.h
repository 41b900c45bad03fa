// Hashes: MD5 or SHA-1 for files of others that publish only these, SHA-256 for everything of our own.
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
  // The digest in lower-case hexadecimal; the hasher cannot be used afterwards.
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
