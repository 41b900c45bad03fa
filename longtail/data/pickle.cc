#include "longtail/data/pickle.h"

#include <algorithm>
#include <array>
#include <limits>

#include "longtail/base/error.h"

namespace longtail::data {
namespace {

using base::fail;

// The only names a CIFAR pickle mentions. They are compared, never looked up.
constexpr std::string_view kReconstruct = "numpy.core.multiarray\n_reconstruct";
constexpr std::string_view kArray = "numpy\nndarray";
constexpr std::string_view kType = "numpy\ndtype";

}  // namespace

// The stack machine of the pickle protocol, reduced to data.
class Pickle::Machine {
 public:
  Machine(std::span<const std::uint8_t> bytes, const std::string& where, std::vector<Node>& nodes)
      : bytes_(bytes), where_(where), nodes_(nodes) {}

  Ref run() {
    if (bytes_.size() < 2 || bytes_[0] != 0x80 || bytes_[1] != 2) {
      fail("{}: not a Python pickle of protocol 2, the form in which CIFAR is published", where_);
    }
    at_ = 2;
    for (;;) {
      opcode_at_ = at_;
      const std::uint8_t opcode = byte();
      if (opcode == '.') break;
      step(opcode);
    }
    if (at_ != bytes_.size()) fail("{}: {} bytes follow the end of the pickle", where_, bytes_.size() - at_);
    if (stack_.size() != 1 || !marks_.empty()) refuse("leaves other than one value");
    return stack_.back();
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail("{}: the pickle {} at byte {}; the file is damaged or not the published one", where_, what,
         opcode_at_);
  }

  std::uint8_t byte() { return take(1)[0]; }

  std::span<const std::uint8_t> take(std::size_t count) {
    if (count > bytes_.size() - at_) {
      fail("{}: truncated: it ends after {} bytes in the middle of a value; get the file again", where_,
           bytes_.size());
    }
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }

  std::uint32_t little(std::size_t count) {
    std::uint32_t value = 0;
    const auto part = take(count);
    for (std::size_t i = 0; i < count; ++i) value |= std::uint32_t{part[i]} << (8 * i);
    return value;
  }

  std::string_view text(std::size_t count) {
    const auto part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  std::string_view line() {
    const auto rest = bytes_.subspan(at_, std::min<std::size_t>(bytes_.size() - at_, 64));
    const auto end = std::find(rest.begin(), rest.end(), '\n');
    if (end == rest.end()) refuse("has a name without an end");
    const std::string_view found = text(static_cast<std::size_t>(end - rest.begin()));
    ++at_;
    return found;
  }

  Ref push(Node node) {
    nodes_.push_back(std::move(node));
    stack_.push_back(static_cast<Ref>(nodes_.size() - 1));
    return stack_.back();
  }

  // Items above the last mark (or the bottom) may be popped; those below may not.
  Ref pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("takes a value that is not there");
    const Ref ref = stack_.back();
    stack_.pop_back();
    return ref;
  }

  Node& top(Kind kind) {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("takes a value that is not there");
    Node& node = nodes_[stack_.back()];
    if (node.kind != kind) refuse("uses a value of the wrong kind");
    return node;
  }

  std::vector<Ref> pop_to_mark() {
    if (marks_.empty()) refuse("closes what it did not open");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  void tuple(std::size_t count) {
    Node node{Kind::kTuple, 0, {}, std::vector<Ref>(count)};
    for (std::size_t i = count; i-- > 0;) node.items[i] = pop();
    push(std::move(node));
  }

  void extend(Kind kind, const std::vector<Ref>& items) {
    if (kind == Kind::kDict && items.size() % 2 != 0) refuse("has a key without a value");
    Node& node = top(kind);
    node.items.insert(node.items.end(), items.begin(), items.end());
  }

  void remember(std::size_t slot) {
    // Python numbers its memo slots one by one; a distant slot would only make us allocate.
    if (slot > memo_.size() + 1) refuse("numbers its values out of order");
    if (stack_.empty()) refuse("takes a value that is not there");
    if (slot >= memo_.size()) memo_.resize(slot + 1, kNothing);
    memo_[slot] = stack_.back();
  }

  void recall(std::size_t slot) {
    if (slot >= memo_.size() || memo_[slot] == kNothing) refuse("refers to a value that is not there");
    stack_.push_back(memo_[slot]);
  }

  void global() {
    const std::size_t first = at_;
    line();
    line();
    const std::string_view name(reinterpret_cast<const char*>(bytes_.data()) + first, at_ - first - 1);
    if (name != kReconstruct && name != kArray && name != kType)
      refuse("names code that no CIFAR file names");
    push({Kind::kGlobal, 0, name, {}});
  }

  void reduce() {
    const Ref arguments = pop();
    const Ref callable = pop();
    push({Kind::kReduced, 0, {}, {callable, arguments}});
  }

  void build() {
    const Ref state = pop();
    Node& node = top(Kind::kReduced);
    if (node.items.size() != 2) refuse("sets a value twice");
    node.items.push_back(state);
  }

  void step(std::uint8_t opcode) {
    switch (opcode) {
      case 'q':
        return remember(byte());  // BINPUT
      case 'r':
        return remember(little(4));  // LONG_BINPUT
      case 'h':
        return recall(byte());  // BINGET
      case 'j':
        return recall(little(4));  // LONG_BINGET
      case 'K':
        push({Kind::kInteger, byte(), {}, {}});
        return;  // BININT1
      case 'M':
        push({Kind::kInteger, little(2), {}, {}});
        return;  // BININT2
      case 'J':
        push({Kind::kInteger, static_cast<std::int32_t>(little(4)), {}, {}});
        return;  // BININT
      case 'U':
        push({Kind::kString, 0, text(byte()), {}});
        return;  // SHORT_BINSTRING
      case 'T':
        push({Kind::kString, 0, text(little(4)), {}});
        return;  // BINSTRING
      case 'N':
        push({Kind::kNone, 0, {}, {}});
        return;  // NONE
      case 0x88:
        push({Kind::kBool, 1, {}, {}});
        return;  // NEWTRUE
      case 0x89:
        push({Kind::kBool, 0, {}, {}});
        return;  // NEWFALSE
      case '}':
        push({Kind::kDict, 0, {}, {}});
        return;  // EMPTY_DICT
      case ']':
        push({Kind::kList, 0, {}, {}});
        return;  // EMPTY_LIST
      case '(':
        marks_.push_back(stack_.size());
        return;  // MARK
      case 't':
        push({Kind::kTuple, 0, {}, pop_to_mark()});
        return;  // TUPLE
      case 0x85:
        return tuple(1);  // TUPLE1
      case 0x86:
        return tuple(2);  // TUPLE2
      case 0x87:
        return tuple(3);  // TUPLE3
      case 'a':
        return extend(Kind::kList, {pop()});  // APPEND
      case 'e':
        return extend(Kind::kList, pop_to_mark());  // APPENDS
      case 's': {
        const Ref value = pop();
        return extend(Kind::kDict, {pop(), value});
      }  // SETITEM
      case 'u':
        return extend(Kind::kDict, pop_to_mark());  // SETITEMS
      case 'c':
        return global();  // GLOBAL
      case 'R':
        return reduce();  // REDUCE
      case 'b':
        return build();  // BUILD
      default:
        refuse("uses an operation that no CIFAR file uses");
    }
  }

  static constexpr Ref kNothing = std::numeric_limits<Ref>::max();

  std::span<const std::uint8_t> bytes_;
  const std::string& where_;
  std::vector<Node>& nodes_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Ref> memo_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
};

Pickle::Pickle(std::span<const std::uint8_t> bytes, std::string where) : where_(std::move(where)) {
  top_ = Machine(bytes, where_, nodes_).run();
  if (nodes_[top_].kind != Kind::kDict) fail("{}: the pickle holds no dictionary", where_);
}

const Pickle::Node* Pickle::find(std::string_view key) const {
  const Node& dict = nodes_[top_];
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const Node& name = nodes_[dict.items[i]];
    if (name.kind == Kind::kString && name.text == key) return &nodes_[dict.items[i + 1]];
  }
  return nullptr;
}

bool Pickle::has(std::string_view key) const { return find(key) != nullptr; }

const Pickle::Node& Pickle::require(std::string_view key, Kind kind, std::string_view what) const {
  const Node* node = find(key);
  if (!node) fail("{}: there is no `{}` in it; is it the right file?", where_, key);
  if (node->kind != kind) fail("{}: `{}` is not {}", where_, key, what);
  return *node;
}

std::vector<std::string> Pickle::strings(std::string_view key) const {
  std::vector<std::string> all;
  for (const Ref ref : require(key, Kind::kList, "a list of strings").items) {
    if (nodes_[ref].kind != Kind::kString) fail("{}: `{}` is not a list of strings", where_, key);
    all.emplace_back(nodes_[ref].text);
  }
  return all;
}

std::vector<std::int32_t> Pickle::integers(std::string_view key) const {
  const Node& list = require(key, Kind::kList, "a list of integers");
  std::vector<std::int32_t> all;
  all.reserve(list.items.size());
  for (const Ref ref : list.items) {
    if (nodes_[ref].kind != Kind::kInteger) fail("{}: `{}` is not a list of integers", where_, key);
    all.push_back(static_cast<std::int32_t>(nodes_[ref].integer));
  }
  return all;
}

const Pickle::Node* Pickle::item(const Node& node, std::size_t index) const {
  return index < node.items.size() ? &nodes_[node.items[index]] : nullptr;
}

bool Pickle::is_integer(const Node* node, std::int64_t value) const {
  return node && node->kind == Kind::kInteger && node->integer == value;
}

bool Pickle::is_global(const Node* node, std::string_view name) const {
  return node && node->kind == Kind::kGlobal && node->text == name;
}

// dtype('u1', 0, 1) with the state (3, '|', None, None, None, -1, -1, 0).
bool Pickle::is_byte_type(const Node* node) const {
  if (!node || node->kind != Kind::kReduced || !is_global(item(*node, 0), kType)) return false;
  const Node* arguments = item(*node, 1);
  const Node* name = arguments ? item(*arguments, 0) : nullptr;
  return name && arguments->kind == Kind::kTuple && name->kind == Kind::kString && name->text == "u1";
}

// _reconstruct(ndarray, (0,), 'b') with the state (1, (rows, columns), dtype, column_major, bytes).
Pickle::Matrix Pickle::byte_matrix(std::string_view key) const {
  const Node& array = require(key, Kind::kReduced, "a NumPy array");
  const auto refuse = [&](std::string_view what) { fail("{}: `{}` is not {}", where_, key, what); };
  if (!is_global(item(array, 0), kReconstruct) || !item(array, 1) ||
      !is_global(item(*item(array, 1), 0), kArray)) {
    refuse("a NumPy array");
  }
  const Node* state = item(array, 2);
  if (!state || state->kind != Kind::kTuple || state->items.size() != 5 || !is_integer(item(*state, 0), 1)) {
    refuse("a whole NumPy array");
  }
  const Node& shape = *item(*state, 1);
  const Node& order = *item(*state, 3);
  const Node& bytes = *item(*state, 4);
  if (!is_byte_type(item(*state, 2))) refuse("an array of bytes");
  if (shape.kind != Kind::kTuple || shape.items.size() != 2 || order.kind != Kind::kBool ||
      bytes.kind != Kind::kString) {
    refuse("a matrix of bytes");
  }
  const Node& rows = *item(shape, 0);
  const Node& columns = *item(shape, 1);
  if (rows.kind != Kind::kInteger || columns.kind != Kind::kInteger || rows.integer < 0 ||
      columns.integer < 0 ||
      static_cast<std::uint64_t>(rows.integer) * static_cast<std::uint64_t>(columns.integer) !=
          bytes.text.size()) {
    refuse("a matrix whose shape agrees with its bytes");
  }
  return {static_cast<std::size_t>(rows.integer),
          static_cast<std::size_t>(columns.integer),
          order.integer != 0,
          {reinterpret_cast<const std::uint8_t*>(bytes.text.data()), bytes.text.size()}};
}

}  // namespace longtail::data
