// A strict reader of the Python pickles in which CIFAR is published: a dictionary of lists of strings, lists
// of integers and one NumPy matrix of bytes. It knows exactly the opcodes these files use, calls nothing, and
// treats the three NumPy names that occur as fixed patterns of data. Anything else is an Error that names the
// file and the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::data {

class Pickle {
 public:
  struct Matrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool column_major = false;
    std::span<const std::uint8_t> bytes;  // inside the bytes that were parsed
  };

  // `bytes` must outlive the Pickle; `where` names the file in errors.
  Pickle(std::span<const std::uint8_t> bytes, std::string where);

  bool has(std::string_view key) const;
  // The value under a key of the outer dictionary; an Error if it is missing or of another kind.
  std::vector<std::string> strings(std::string_view key) const;
  std::vector<std::int32_t> integers(std::string_view key) const;
  Matrix byte_matrix(std::string_view key) const;

 private:
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kString, kTuple, kList, kDict, kGlobal, kReduced };
  using Ref = std::uint32_t;
  struct Node {
    Kind kind = Kind::kNone;
    std::int64_t integer = 0;
    std::string_view text;   // a string, or the name of a global
    std::vector<Ref> items;  // a dictionary: key, value, key, value; reduced: callable, arguments, state
  };
  class Machine;

  const Node* find(std::string_view key) const;
  const Node& require(std::string_view key, Kind kind, std::string_view what) const;
  const Node* item(const Node& node, std::size_t index) const;
  bool is_integer(const Node* node, std::int64_t value) const;
  bool is_global(const Node* node, std::string_view name) const;
  bool is_byte_type(const Node* node) const;

  std::string where_;
  std::vector<Node> nodes_;
  Ref top_ = 0;
};

}  // namespace longtail::data
