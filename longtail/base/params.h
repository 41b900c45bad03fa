// One description of every parameter: name, type, default, range and help text. `--help`, the checks of study
// files and docs/parameters.md all come from it.
//
//   struct Config { int epochs = 200; double lr = 0.1; };
//   ParamTable<Config> table("train");
//   table.add("epochs", &Config::epochs, "Number of passes over the training subset.").at_least(1);
//   table.set(config, "epochs", "20");
//   table.set(config, "epochs", "0");            // Error: "`epochs` is `0`; it must be at least 1"
//
// A value travels as text (from a flag, a TOML file, a log); `get` gives the canonical text, the same for
// equal values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::base {

struct ParamInfo {
  std::string name;      // as in a study file: weight_decay; the flag is --weight-decay
  std::string section;   // the table of a study file: data, model, train
  std::string type;      // integer, real, switch, text, integers
  std::string initial;   // default, as text
  std::string range;     // in words, may be empty
  std::string help;      // a sentence
  bool identity = true;  // another value is another run; false for threads, folders and the like
  // For a parameter that a later version introduced: the value that means "as before". With this value the
  // parameter is left out of a run's identity and files, so that old runs keep theirs; where the parameter is
  // absent it has this value.
  std::string omitted{};

  std::string flag() const;
};

namespace detail {
inline constexpr double kInfinity = 1e300;
std::string type_name(const int*);
std::string type_name(const std::int64_t*);
std::string type_name(const double*);
std::string type_name(const bool*);
std::string type_name(const std::string*);
std::string type_name(const std::vector<int>*);
// Parse the whole text or throw an Error that names the parameter.
void parse(std::string_view name, std::string_view text, int& out);
void parse(std::string_view name, std::string_view text, std::int64_t& out);
void parse(std::string_view name, std::string_view text, double& out);
void parse(std::string_view name, std::string_view text, bool& out);
void parse(std::string_view name, std::string_view text, std::string& out);
void parse(std::string_view name, std::string_view text, std::vector<int>& out);
std::string print(int value);
std::string print(std::int64_t value);
std::string print(double value);
std::string print(bool value);
std::string print(const std::string& value);
std::string print(const std::vector<int>& value);
}  // namespace detail

template <class Config>
class ParamTable {
 public:
  struct Entry {
    ParamInfo info;
    std::function<void(Config&, std::string_view)> set;
    std::function<std::string(const Config&)> get;
    std::vector<std::function<void(const Config&)>> checks;

    // Checks of the value; each also sets info.range, the range in words.
    Entry& at_least(double low);
    Entry& above(double low, double high = detail::kInfinity);
    Entry& between(double low, double high);
    Entry& one_of(std::vector<std::string> choices);
    // Any other check: throws an Error if the text of the value is not acceptable.
    Entry& check(std::string range, std::function<void(const std::string& text)> test);
    // Left out of a run's identity and files at this value.
    Entry& omitted(std::string value) {
      info.omitted = std::move(value);
      return *this;
    }
    // Not part of a run's identity.
    Entry& incidental() {
      info.identity = false;
      return *this;
    }
  };

  explicit ParamTable(std::string section = "") : section_(std::move(section)) {}

  // The section of the parameters added from here on.
  void section(std::string name) { section_ = std::move(name); }

  template <class T>
  Entry& add(std::string name, T Config::*member, std::string help) {
    Entry entry;
    entry.info = {name,
                  section_,
                  detail::type_name(static_cast<const T*>(nullptr)),
                  detail::print(Config{}.*member),
                  "",
                  std::move(help),
                  true,
                  ""};
    entry.set = [name, member](Config& config, std::string_view text) {
      detail::parse(name, text, config.*member);
    };
    entry.get = [member](const Config& config) { return detail::print(config.*member); };
    entries_.push_back(std::move(entry));
    return entries_.back();
  }

  // Takes over the parameters of a part: table.include(&Run::data, data::params()).
  template <class Part>
  void include(Part Config::*part, const ParamTable<Part>& table) {
    for (const auto& other : table.entries()) {
      Entry entry;
      entry.info = other.info;
      entry.set = [part, set = other.set](Config& config, std::string_view text) { set(config.*part, text); };
      entry.get = [part, get = other.get](const Config& config) { return get(config.*part); };
      for (const auto& test : other.checks) {
        entry.checks.push_back([part, test](const Config& config) { test(config.*part); });
      }
      entries_.push_back(std::move(entry));
    }
  }

  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.push_back(entry.info.name);
    return all;
  }
  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (entry.info.name == name) return &entry;
    }
    return nullptr;
  }
  // Sets and checks one parameter; an unknown name is an Error with a suggestion.
  void set(Config& config, std::string_view name, std::string_view text) const {
    const Entry* entry = find(name);
    if (!entry) fail("unknown key `{}`{}", name, did_you_mean(name, names()));
    Config trial = config;
    entry->set(trial, text);
    for (const auto& test : entry->checks) test(trial);
    config = std::move(trial);
  }

 private:
  std::string section_;
  std::vector<Entry> entries_;
};

namespace detail {
void check_bounds(const ParamInfo& info, std::string_view text, double low, bool open, double high);
void check_choice(const ParamInfo& info, const std::string& text, const std::vector<std::string>& choices);
std::string range_words(double low, bool open, double high);
}  // namespace detail

template <class Config>
auto ParamTable<Config>::Entry::check(std::string range, std::function<void(const std::string&)> test)
    -> Entry& {
  info.range = std::move(range);
  checks.push_back([get = get, test = std::move(test)](const Config& config) { test(get(config)); });
  return *this;
}

template <class Config>
auto ParamTable<Config>::Entry::between(double low, double high) -> Entry& {
  const ParamInfo copy = info;
  return check(detail::range_words(low, false, high), [copy, low, high](const std::string& text) {
    detail::check_bounds(copy, text, low, false, high);
  });
}

template <class Config>
auto ParamTable<Config>::Entry::at_least(double low) -> Entry& {
  return between(low, detail::kInfinity);
}

template <class Config>
auto ParamTable<Config>::Entry::above(double low, double high) -> Entry& {
  const ParamInfo copy = info;
  return check(detail::range_words(low, true, high), [copy, low, high](const std::string& text) {
    detail::check_bounds(copy, text, low, true, high);
  });
}

template <class Config>
auto ParamTable<Config>::Entry::one_of(std::vector<std::string> choices) -> Entry& {
  const ParamInfo copy = info;
  return check(join(choices, " | "),
               [copy, choices](const std::string& text) { detail::check_choice(copy, text, choices); });
}

}  // namespace longtail::base
