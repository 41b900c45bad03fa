#include "longtail/base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "longtail/base/error.h"

namespace longtail::base {

struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Hasher::Hasher(Kind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* method = kind == kMd5 ? EVP_md5() : kind == kSha1 ? EVP_sha1() : EVP_sha256();
  if (EVP_DigestInit_ex(state_->context, method, nullptr) != 1) {
    fail("this system's OpenSSL does not offer {}", kind == kMd5    ? "MD5"
                                                    : kind == kSha1 ? "SHA-1"
                                                                    : "SHA-256");
  }
}

Hasher::~Hasher() = default;

void Hasher::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

void Hasher::add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }

std::string Hasher::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string md5(std::span<const std::byte> bytes) {
  Hasher hasher(Hasher::kMd5);
  hasher.add(bytes);
  return hasher.hex();
}

std::string sha1(std::span<const std::byte> bytes) {
  Hasher hasher(Hasher::kSha1);
  hasher.add(bytes);
  return hasher.hex();
}

std::string sha256(std::span<const std::byte> bytes) {
  Hasher hasher(Hasher::kSha256);
  hasher.add(bytes);
  return hasher.hex();
}

std::string sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace longtail::base
