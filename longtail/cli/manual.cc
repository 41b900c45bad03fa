#include "longtail/cli/manual.h"

#include <fmt/format.h>

#include <functional>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::cli {
namespace {

// Escapes text for roff: no line may begin with a dot or a quote, and a backslash is doubled.
std::string roff(const std::string& text) {
  std::string out;
  bool fresh = true;
  for (const char c : text) {
    if (fresh && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    fresh = c == '\n';
  }
  return out;
}

std::string man_options(const AppInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options) {
    out += ".TP\n\\fB" + roff(base::join(option.names, ", ")) + "\\fR";
    if (!option.type.empty() && !option.positional) out += " \\fI" + roff(option.type) + "\\fR";
    out += '\n' + roff(option.help.empty() ? "(no description)" : option.help);
    if (!option.choices.empty()) out += roff(" {" + base::join(option.choices, ", ") + "}");
    out += '\n';
  }
  return out;
}

void man_command(const AppInfo& command, std::string& out) {
  out += ".SS \"" + roff(command.name) + "\"\n" + roff(command.description) + '\n' + man_options(command);
  if (!command.footer.empty()) out += ".PP\n.nf\n" + roff(command.footer) + "\n.fi\n";
  for (const AppInfo& one : command.commands) man_command(one, out);
}

// Escapes text for a single-quoted shell string.
std::string quoted(const std::string& text, const std::string& escape) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "'";
}

void each_command(const AppInfo& command, const std::function<void(const AppInfo&)>& visit) {
  visit(command);
  for (const AppInfo& one : command.commands) each_command(one, visit);
}

// All words that may follow a command: its subcommands and its options.
std::vector<std::string> words_of(const AppInfo& command) {
  std::vector<std::string> words;
  for (const AppInfo& one : command.commands) words.push_back(one.own_name());
  for (const OptionInfo& option : command.options) {
    if (option.positional) continue;
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

std::string bash(const AppInfo& program) {
  std::string commands, choices;
  each_command(program, [&](const AppInfo& command) {
    const std::string path = base::join(base::split(command.name, ' '), "/");
    commands +=
        fmt::format("    {}) words={} ;;\n", path, quoted(base::join(words_of(command), " "), "'\\''"));
    for (const OptionInfo& option : command.options) {
      if (option.choices.empty()) continue;
      choices += fmt::format("    {}:{}) choices={} ;;\n", path, option.names.front(),
                             quoted(base::join(option.choices, " "), "'\\''"));
    }
  });
  return fmt::format(
      R"(# Completion of longtail for bash; written by `longtail help --completion bash`. For zsh: autoload -U bashcompinit;
# bashcompinit; then source this file.
_longtail() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path=longtail words= choices= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case " $(_longtail_words "$path") " in
      *" ${{COMP_WORDS[i]}} "*) [[ ${{COMP_WORDS[i]}} == -* ]] || path=$path/${{COMP_WORDS[i]}} ;;
    esac
  done
  case "$path:$previous" in
{}  esac
  if [[ -n $choices ]]; then
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
    return
  fi
  words=$(_longtail_words "$path")
  if [[ $current != -* && $path != longtail/help* ]] && [[ $previous == --* || " $words" != *" "[a-z]* ]]; then
    COMPREPLY=()
    while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -f -- "$current")
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
_longtail_words() {{
  local words=
  case "$1" in
{}  esac
  case "$1" in  # what can be explained
    longtail/help*) words+=" $(_longtail_words longtail${{1#longtail/help}}) " ;;
  esac
  echo "$words"
}}
complete -o filenames -o bashdefault -F _longtail longtail
)",
      choices, commands);
}

std::string fish(const AppInfo& program) {
  std::string out = "# Completion of longtail for fish; written by `longtail help --completion fish`.\n";
  each_command(program, [&](const AppInfo& command) {
    const auto path = base::split(command.name, ' ');
    std::string seen = "__fish_use_subcommand";
    for (std::size_t i = 1; i < path.size(); ++i) {
      seen = fmt::format("{}__fish_seen_subcommand_from {}", i == 1 ? "" : seen + "; and ", path[i]);
    }
    const std::string condition = "complete -c longtail -n " + quoted(seen, "\\'");
    for (const AppInfo& one : command.commands) {
      out += fmt::format("{} -f -a {} -d {}\n", condition, one.own_name(), quoted(one.description, "\\'"));
    }
    for (const OptionInfo& option : command.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) {
        if (!name.starts_with("--")) continue;
        out += fmt::format(
            "{} -l {}{}{} -d {}\n", condition, name.substr(2), option.type.empty() ? "" : " -r",
            option.choices.empty() ? "" : " -f -a " + quoted(base::join(option.choices, " "), "\\'"),
            quoted(option.help, "\\'"));
      }
    }
  });
  return out;
}

}  // namespace

std::string man_page(const AppInfo& program, const std::string& version) {
  std::string out = fmt::format(".TH LONGTAIL 1 \"\" \"longtail {}\" \"User commands\"\n", version);
  out += ".SH NAME\nlongtail \\- mini\\-batch sampling strategies for long\\-tailed image classification\n";
  out += ".SH SYNOPSIS\n\\fBlongtail\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  out += ".SH DESCRIPTION\n" + roff(program.description) + "\n.PP\n" + roff(program.footer) + '\n';
  out += ".SH COMMANDS\n";
  for (const AppInfo& command : program.commands) man_command(command, out);
  out += ".SH ENVIRONMENT\n.TP\n\\fBLONGTAIL_DATA\\fR\nA folder in which data sets are looked for.\n";
  return out;
}

std::string completion(const AppInfo& program, const std::string& shell) {
  if (shell == "bash") return bash(program);
  if (shell == "fish") return fish(program);
  base::fail<base::UsageError>(
      "there is no completion for `{}`; there is one for bash (zsh too) and for fish", shell);
}

}  // namespace longtail::cli
