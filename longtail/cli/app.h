// The command line: commands, their options and their descriptions. CLI11 does the parsing. Only app.cc
// includes it, because it takes longer to compile than most of our own files. Help, man page and shell
// completion are generated from `describe()` (help.h).
//
//   App* command = app.add_subcommand("init", "Write the initial weights of a network");
//   command->add_option("--seed", seed, "As given to torch.manual_seed")->check(NonNegativeNumber);
//   command->callback([&seed] { run(seed); });
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace longtail::cli {

// Validates the text of an option before the value is stored.
class Check {
 public:
  // `error` returns a sentence if the text is invalid, else an empty string.
  Check(std::function<std::string(const std::string&)> error, std::string description);
  explicit Check(std::shared_ptr<const CLI::Validator> rule) : rule_(std::move(rule)) {}
  const CLI::Validator& rule() const { return *rule_; }
  const std::vector<std::string>& choices() const { return choices_; }

 private:
  friend Check IsMember(std::vector<std::string> choices);
  std::shared_ptr<const CLI::Validator> rule_;
  std::vector<std::string> choices_;
};

Check Range(int low, int high);
Check Range(double low, double high);
Check IsMember(std::vector<std::string> choices);
extern const Check PositiveNumber;
extern const Check NonNegativeNumber;
extern const Check ExistingPath;

// The description of an option or a command.
struct OptionInfo {
  std::vector<std::string> names;    // "--out", "-o"; "--no-x" for a switch; the bare name of a positional
  std::string type;                  // "FILE"; empty for a flag
  std::string help;                  // including default and range, as in --help
  std::string section;               // heading under which --help shows it
  std::vector<std::string> choices;  // all allowed values, if there are few
  bool positional = false;
  bool required = false;
  bool repeated = false;
};
struct AppInfo {
  std::string name;  // including its parents: "longtail study run"
  std::string description;
  std::string footer;
  std::vector<OptionInfo> options;
  std::vector<AppInfo> commands;

  // The last word of `name`, without its parents.
  std::string own_name() const { return name.substr(name.rfind(' ') + 1); }
};

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* required(bool on = true);
  Option* type_name(const std::string& name);
  Option* check(const Check& check);
  Option* capture_default_str();
  Option* excludes(const std::string& name);
  Option* excludes(Option* other);
  Option* expected(int number);
  Option* expected(int low, int high);
  Option* take_all();
  Option* may_be_empty();  // allows an empty text, which is otherwise an error
  Option* delimiter(char character);
  Option* group(const std::string& name);  // "": not shown
  std::size_t count() const;               // how often the option was given

 private:
  friend class App;
  // Refuses an empty text unless may_be_empty() was called. Passes any other text to `other`, which may
  // change it and returns what is wrong with it.
  Option* refuse_empty(std::function<std::string(std::string&)> other);

  CLI::Option* option_;
  std::vector<std::string> choices_;
  std::shared_ptr<bool> may_be_empty_ = std::make_shared<bool>(false);
};

class App {
 public:
  App(const std::string& name, const std::string& description, const std::string& version);
  ~App();

  App* add_subcommand(const std::string& name, const std::string& description);
  // T: string, path, int, int64, uint64, double, or a vector or optional of some of these (listed at the end
  // of app.cc).
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& help = "");
  Option* add_flag(const std::string& name, bool& value, const std::string& help);
  // The functions may throw base::Error, which is reported as wrong usage.
  Option* add_option_function(const std::string& name, std::function<void(const std::string&)> set,
                              const std::string& help);
  Option* add_flag_function(const std::string& name, std::function<void(std::int64_t)> set,
                            const std::string& help);
  Option* get_option(const std::string& name) const;
  std::size_t count(const std::string& name) const;  // how often that option was given
  App* callback(std::function<void()> run);
  App* footer(const std::string& text);
  App* group(const std::string& name);  // "": not shown
  App* require_subcommand(int number);

  // Parses and runs. Returns the exit code. An error in the command line is printed on standard error (code
  // 2) or thrown as UsageError.
  int parse(int argc, char** argv);

  // Everything that is shown to users, without hidden commands and options.
  AppInfo describe() const;

 private:
  explicit App(CLI::App* app);
  Option* keep(CLI::Option* option);
  AppInfo describe(const std::string& parents) const;
  std::string unknown_word(int argc, char** argv) const;

  std::unique_ptr<CLI::App> owned_;  // only set in the App of the program itself
  CLI::App* app_;
  std::vector<std::unique_ptr<App>> commands_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace longtail::cli
