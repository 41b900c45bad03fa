#include "longtail/cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>

#include "longtail/base/error.h"
#include "longtail/base/text.h"
#include "longtail/cli/help.h"

namespace longtail::cli {
namespace {

template <class Rule>
Check make_check(const Rule& rule) {
  return Check(std::make_shared<const ::CLI::Validator>(rule));
}

// A wrong value found by our own code is reported as wrong usage, like one found by CLI11.
template <class Set, class Value>
void set_or_refuse(const Set& set, const Value& value) {
  try {
    set(value);
  } catch (const base::Error& error) {
    throw ::CLI::ValidationError(error.what());
  }
}

// What is wrong with a number that must be positive, or not negative; empty if it is valid.
std::string number_error(const std::string& text, bool positive) {
  const auto number = base::parse_real(text);
  if (!number) return fmt::format("`{}` is not a number", text);
  if (positive && !(*number > 0)) return fmt::format("{} is not above 0", text);
  if (!positive && !(*number >= 0)) return fmt::format("{} is below 0", text);
  return "";
}

// Rewrites an integer so that CLI11 reads it as intended: CLI11 silently takes 042 for an octal number, and
// silently clamps a number that is too large. Returns what is wrong, or an empty string.
template <class Value>
std::string plain_number(std::string& text) {
  if constexpr (std::is_integral_v<Value>) {
    const std::string_view digits = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
    const char* end = digits.data() + digits.size();
    Value value{};
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) return fmt::format("{} is out of range", text);
    if (error != std::errc() || stop != end) {
      return fmt::format("`{}` is not a {}number", text, base::parse_real(text) ? "whole " : "");
    }
    text = fmt::format("{}", value);
  }
  return "";
}

// The type of a single value of an option.
template <class T>
struct ValueOf {
  using type = T;
};
template <class T>
struct ValueOf<std::vector<T>> {
  using type = T;
};
template <class T>
struct ValueOf<std::optional<T>> {
  using type = T;
};

// The names of an option: "--flag,!--no-flag" etc. as CLI11 lists them.
std::vector<std::string> names_of(const ::CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  if (option.get_positional()) names.insert(names.begin(), option.get_name(true, false));
  return names;
}

}  // namespace

Check::Check(std::function<std::string(const std::string&)> error, std::string description)
    : rule_(std::make_shared<const ::CLI::Validator>(
          [error = std::move(error)](std::string& text) { return error(text); }, std::move(description))) {}

Check Range(int low, int high) { return make_check(::CLI::Range(low, high)); }
Check Range(double low, double high) { return make_check(::CLI::Range(low, high)); }
Check IsMember(std::vector<std::string> choices) {
  Check check = make_check(::CLI::IsMember(choices));
  check.choices_ = std::move(choices);
  return check;
}
// CLI11's own check would print the largest double, with its 309 digits.
const Check PositiveNumber([](const std::string& text) { return number_error(text, true); }, "POSITIVE");
const Check NonNegativeNumber([](const std::string& text) { return number_error(text, false); },
                              "NONNEGATIVE");
const Check ExistingPath = make_check(::CLI::ExistingPath);

Option* Option::refuse_empty(std::function<std::string(std::string&)> other) {
  // An empty word is usually an unset shell variable; it must not mean "as if the flag were not there".
  const auto check = [empty = may_be_empty_, other = std::move(other)](std::string& text) -> std::string {
    if (text.empty()) return *empty ? "" : "the value is empty; give one, or leave the flag out";
    return other(text);
  };
  option_->transform(::CLI::Validator(check, ""));  // CLI11's check() may not change the text
  return this;
}
Option* Option::required(bool on) {
  option_->required(on);
  return this;
}
Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}
Option* Option::check(const Check& check) {
  option_->check(check.rule());
  if (!check.choices().empty()) choices_ = check.choices();
  return this;
}
Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}
Option* Option::excludes(const std::string& name) {
  option_->excludes(name);
  return this;
}
Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}
Option* Option::expected(int number) {
  option_->expected(number);
  return this;
}
Option* Option::expected(int low, int high) {
  option_->expected(low, high);
  return this;
}
Option* Option::take_all() {
  option_->take_all();
  return this;
}
Option* Option::may_be_empty() {
  *may_be_empty_ = true;
  return this;
}
Option* Option::delimiter(char character) {
  option_->delimiter(character);
  return this;
}
Option* Option::group(const std::string& name) {
  option_->group(name);
  return this;
}
std::size_t Option::count() const { return option_->count(); }

App::App(const std::string& name, const std::string& description, const std::string& version)
    : owned_(std::make_unique<::CLI::App>(description)), app_(owned_.get()) {
  app_->name(name);
  app_->set_version_flag("--version", version);
}
App::App(::CLI::App* app) : app_(app) {}
App::~App() = default;

App* App::add_subcommand(const std::string& name, const std::string& description) {
  commands_.push_back(std::unique_ptr<App>(new App(app_->add_subcommand(name, description))));
  return commands_.back().get();
}

Option* App::keep(::CLI::Option* option) {
  options_.push_back(std::make_unique<Option>(option));
  return options_.back().get();
}

template <class T>
Option* App::add_option(const std::string& name, T& value, const std::string& help) {
  Option* option = keep(app_->add_option(name, value, help));
  return option->refuse_empty(plain_number<typename ValueOf<T>::type>);
}
Option* App::add_flag(const std::string& name, bool& value, const std::string& help) {
  return keep(app_->add_flag(name, value, help));
}
Option* App::add_option_function(const std::string& name, std::function<void(const std::string&)> set,
                                 const std::string& help) {
  Option* option = keep(app_->add_option_function<std::string>(
      name, [set = std::move(set)](const std::string& text) { set_or_refuse(set, text); }, help));
  return option->refuse_empty([](std::string&) { return std::string(); });
}
Option* App::add_flag_function(const std::string& name, std::function<void(std::int64_t)> set,
                               const std::string& help) {
  return keep(app_->add_flag_function(
      name, [set = std::move(set)](std::int64_t times) { set_or_refuse(set, times); }, help));
}

Option* App::get_option(const std::string& name) const {
  const ::CLI::Option* found = app_->get_option(name);
  for (const auto& option : options_) {
    if (option->option_ == found) return option.get();
  }
  base::fail("`{}` was not added here", name);
}
std::size_t App::count(const std::string& name) const { return app_->count(name); }
App* App::callback(std::function<void()> run) {
  app_->callback(std::move(run));
  return this;
}
App* App::footer(const std::string& text) {
  app_->footer(text);
  return this;
}
App* App::group(const std::string& name) {
  app_->group(name);
  return this;
}
App* App::require_subcommand(int number) {
  app_->require_subcommand(number);
  return this;
}

// Explains what CLI11 only calls "not expected": names the first command or flag that does not exist, with a
// suggestion. Empty if everything on the line exists.
std::string App::unknown_word(int argc, char** argv) const {
  const ::CLI::App* command = app_;
  std::string called = app_->get_name();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--")) {
      const std::string flag = word.substr(0, word.find('='));
      if (flag == "--" || command->get_option_no_throw(flag)) continue;
      std::vector<std::string> flags;
      for (const ::CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
      }
      return fmt::format("`{}` has no flag `{}`{}", called, flag, base::did_you_mean(flag, flags));
    }
    if (word.starts_with("-") || command->get_subcommands({}).empty()) continue;
    const ::CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (const ::CLI::App* known : command->get_subcommands({})) {
      names.push_back(known->get_name());
      if (known->get_name() == word) next = known;
    }
    if (!next)
      return fmt::format("`{}` has no command `{}`{}", called, word, base::did_you_mean(word, names));
    command = next;
    called += " " + word;
  }
  return "";
}

int App::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
    return 0;
  } catch (const ::CLI::CallForHelp&) {
    std::vector<std::string> path;
    const ::CLI::App* at = app_;
    for (auto chosen = at->get_subcommands(); !chosen.empty(); chosen = at->get_subcommands()) {
      at = chosen.front();
      path.push_back(at->get_name());
    }
    print_help(describe(), path);
    return 0;
  } catch (const ::CLI::ParseError& error) {
    const std::string unknown = error.get_exit_code() == 0 ? "" : unknown_word(argc, argv);
    if (!unknown.empty()) base::fail<base::UsageError>("{}", unknown);
    return app_->exit(error) == 0 ? 0 : 2;
  }
}

AppInfo App::describe() const { return describe(""); }

AppInfo App::describe(const std::string& parents) const {
  AppInfo info{parents + app_->get_name(), app_->get_description(), app_->get_footer(), {}, {}};
  for (const ::CLI::Option* option : app_->get_options()) {
    if (option->get_group().empty()) continue;
    OptionInfo one;
    one.names = names_of(*option);
    one.positional = option->get_positional();
    one.type = option->get_items_expected_max() == 0 ? "" : option->get_type_name();
    one.type = one.type.substr(0, one.type.find(':'));  // without what CLI11 adds for a check
    one.help = option->get_description();
    std::replace(one.help.begin(), one.help.end(), '\n', ' ');  // lines are wrapped when shown
    if (const std::string initial = option->get_default_str(); !initial.empty())
      one.help += " [" + initial + "]";
    one.section = option->get_group();
    one.required = option->get_required();
    one.repeated = option->get_items_expected_max() > 1;
    for (const auto& own : options_) {
      if (own->option_ == option) one.choices = own->choices_;
    }
    info.options.push_back(std::move(one));
  }
  for (const auto& command : commands_) {
    if (!command->app_->get_group().empty()) info.commands.push_back(command->describe(info.name + " "));
  }
  return info;
}

template Option* App::add_option(const std::string&, std::string&, const std::string&);
template Option* App::add_option(const std::string&, std::filesystem::path&, const std::string&);
template Option* App::add_option(const std::string&, int&, const std::string&);
template Option* App::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* App::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* App::add_option(const std::string&, double&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<double>&, const std::string&);

}  // namespace longtail::cli
