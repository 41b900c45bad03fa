// A choice written as text: a name and its parameters. Strategies, losses, schedules and augmentations are
// families of such choices.
//
//   progressive                                       a name
//   progressive:gamma=2                               with parameters
//   deferred:first=uniform,then=power(q=0.25),at=100  in brackets inside another choice
//   crop_flip+mixup:alpha=0.2                         a chain, in families that take one
//
// A variant describes its parameters once, in a ParamTable. Reading, checks, "did you mean", the canonical
// text (parameters at their default left out) and the documentation come from there. Each variant has its own
// file, which ends with a function that returns it; the family lists those functions:
//
//   base::Variant<Strategy()> power() {
//     base::ParamTable<Config> table;
//     table.add("q", &Config::q, "The power.").between(-4, 4);
//     return base::variant<Strategy(), Power>("power", "P(k) proportional to n_k^q.", table);
//   }
//   const base::Family<Strategy()> family("strategy", {uniform(), power()});
//   auto strategy = family.make("power:q=0.250");     // strategy->name() is "power:q=0.25"
//
// Choices may be nested, in brackets or after colons (stratified:of=power:q=0.25), up to a depth of 16.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "longtail/base/params.h"

namespace longtail::base {

// A choice as it was written, not yet matched with a variant.
struct Choice {
  std::string family;  // what errors call it: "strategy"
  std::string name;
  std::vector<std::pair<std::string, std::string>> arguments;  // key, value
};

// Reads one choice. An Error if the text is not NAME, NAME:KEY=VALUE,... or NAME(KEY=VALUE,...).
Choice read_choice(std::string_view family, std::string_view text);

// The links of a chain: the text cut at every + outside brackets that begins a name (a + in 1e+06 does not).
std::vector<std::string> split_chain(std::string_view text);

// "power:q=0.25" as it is written inside another choice: "power(q=0.25)".
std::string in_brackets(std::string text);

// The description of one variant of a family.
struct VariantInfo {
  std::string name;
  std::string help;                   // a sentence
  std::vector<ParamInfo> parameters;  // in the order of the canonical text

  // "gamma: above 0 (default 1); ..."
  std::string parameter_words() const;
  // With every parameter at its default: "deferred:first=uniform,then=class_balanced,at=160".
  std::string written_out() const;
};

// The base of every object made from a choice: it knows its canonical text.
class Chosen {
 public:
  Chosen() = default;
  explicit Chosen(std::string name) : name_(std::move(name)) {}
  virtual ~Chosen() = default;

  // As written in a study file, parameters at their default left out.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

template <class Signature>
struct Variant;

// A variant of a family of Objects. An Object is made from parameters and a Context (the class counts, say).
template <class Object, class... Context>
struct Variant<Object(Context...)> {
  VariantInfo info;
  std::function<std::unique_ptr<Object>(const Choice&, Context...)> make;
};

struct NoParameters {};

// name:key=value,... with the parameters at their default left out.
template <class Config>
std::string canonical_text(const std::string& name, const ParamTable<Config>& table, const Config& config) {
  std::string text = name;
  for (const auto& entry : table.entries()) {
    if (entry.get(config) == entry.info.initial) continue;
    text += (text.size() == name.size() ? ":" : ",") + entry.info.name + "=" + entry.get(config);
  }
  return text;
}

namespace detail {
[[noreturn]] void refuse_argument(const Choice& choice, const std::string& key,
                                  const std::vector<std::string>& known, const char* error);
[[noreturn]] void refuse_name(std::string_view family, const std::string& name,
                              const std::vector<VariantInfo>& known);

// Counts nested choices on this thread: lives while a choice and those inside it are made. An Error if they
// are nested too deeply, however they are written.
class Nesting {
 public:
  explicit Nesting(std::string_view family);
  ~Nesting();
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
};

template <class Config>
Config config_of(const Choice& choice, const ParamTable<Config>& table) {
  Config config;
  for (const auto& [key, value] : choice.arguments) {
    try {
      table.set(config, key, value);
    } catch (const Error& error) {
      refuse_argument(choice, key, table.names(), error.what());
    }
  }
  return config;
}

template <class Made, class Signature>
struct Maker;

template <class Made, class Object, class... Context>
struct Maker<Made, Object(Context...)> {
  template <class Config>
  static auto with(std::string name, ParamTable<Config> table) {
    return [name, table](const Choice& choice, Context... context) -> std::unique_ptr<Object> {
      Config config = config_of(choice, table);
      auto made = std::make_unique<Made>(config, context...);
      made->set_name(canonical_text(name, table, config));
      return made;
    };
  }
};
}  // namespace detail

// A variant whose parameters are a Config. Made is constructed from (Config&, Context...); it may put the
// canonical text of a nested choice into the Config, from which its own name is then written.
template <class Signature, class Made, class Config>
Variant<Signature> variant(const std::string& name, const std::string& help,
                           const ParamTable<Config>& table) {
  Variant<Signature> result;
  result.info = {name, help, {}};
  for (const auto& entry : table.entries()) result.info.parameters.push_back(entry.info);
  result.make = detail::Maker<Made, Signature>::with(name, table);
  return result;
}

template <class Signature, class Made>
Variant<Signature> variant(const std::string& name, const std::string& help) {
  return variant<Signature, Made>(name, help, ParamTable<NoParameters>());
}

template <class Signature>
class Family;

template <class Object, class... Context>
class Family<Object(Context...)> {
 public:
  using Member = Variant<Object(Context...)>;

  Family(std::string noun, std::vector<Member> variants)
      : noun_(std::move(noun)), variants_(std::move(variants)) {
    for (const Member& member : variants_) infos_.push_back(member.info);
  }

  // An Error names what is wrong and what exists.
  std::unique_ptr<Object> make(std::string_view text, Context... context) const {
    const detail::Nesting nesting(noun_);
    const Choice choice = read_choice(noun_, text);
    for (const Member& member : variants_) {
      if (member.info.name == choice.name) return member.make(choice, context...);
    }
    detail::refuse_name(noun_, choice.name, infos_);
  }

  // Every variant in the order of the list, for --help, the documentation and other languages.
  const std::vector<VariantInfo>& infos() const { return infos_; }
  // "cross_entropy | focal:gamma=2 | ..."
  std::string choices() const {
    std::vector<std::string> all;
    for (const VariantInfo& info : infos_) all.push_back(info.written_out());
    return join(all, " | ");
  }

 private:
  std::string noun_;
  std::vector<Member> variants_;
  std::vector<VariantInfo> infos_;
};

}  // namespace longtail::base
