#include "longtail/cli/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "longtail/base/error.h"
#include "longtail/base/terminal.h"
#include "longtail/base/text.h"

namespace longtail::cli {
namespace {

// Wraps paragraphs. Indented lines: examples stay as they are, others are wrapped with a hanging indent at
// their second column.
std::string filled(const std::string& text, int width) {
  std::string out, paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) out += base::wrapped(paragraph, width) + '\n';
    paragraph.clear();
  };
  for (const std::string& line : base::split(text, '\n')) {
    if (line.empty() || line.starts_with(' ')) {
      flush();
      const std::size_t begin = line.find_first_not_of(' ');
      if (static_cast<int>(line.size()) <= width || line.substr(begin).starts_with("longtail ")) {
        out += line + '\n';
        continue;
      }
      const std::size_t gap = line.find("  ", begin);
      const std::size_t column = gap == std::string::npos ? begin : line.find_first_not_of(' ', gap);
      const int at = static_cast<int>(column);
      out += line.substr(0, column) + base::wrapped(line.substr(column), width, at, at) + '\n';
      continue;
    }
    paragraph += (paragraph.empty() ? "" : " ") + line;
    if (line.ends_with('.') || line.ends_with(':')) flush();
  }
  flush();
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

// Two columns: `what`, and its explanation wrapped to the rest of the width.
std::string entry(const std::string& what, const std::string& help, int column, int width) {
  std::string out = "  " + what;
  if (static_cast<int>(out.size()) + 2 > column) {
    out += '\n' + std::string(static_cast<std::size_t>(column), ' ');
  } else {
    out.resize(static_cast<std::size_t>(column), ' ');
  }
  return out + base::wrapped(help, width, column, column) + '\n';
}

std::string usage(const AppInfo& command) {
  std::string line = "Usage: " + command.name;
  if (!command.commands.empty()) return line + " COMMAND [OPTIONS]";
  for (const OptionInfo& option : command.options) {
    if (option.positional) {
      const std::string name = option.names.front() + (option.repeated ? "..." : "");
      line += option.required ? " " + name : " [" + name + "]";
    } else if (option.required) {
      line += " " + option.names.front() + " " + option.type;
    }
  }
  return line + " [OPTIONS]";
}

std::string described(const OptionInfo& option) {
  std::string what = base::join(option.names, ", ");
  if (!option.type.empty() && !option.positional) what += " " + option.type;
  return what;
}

}  // namespace

std::string help_text(const AppInfo& command, int width) {
  width = std::clamp(width, 40, 110);
  const int column = width < 70 ? 16 : 28;
  std::string out =
      filled(command.description, width) + '\n' + base::wrapped(usage(command), width, 8) + '\n';
  if (!command.commands.empty()) {
    out += "\nCommands:\n";
    for (const AppInfo& one : command.commands) out += entry(one.own_name(), one.description, 14, width);
  }
  std::vector<std::string> sections;
  for (const OptionInfo& option : command.options) {
    const std::string section = option.positional ? "Arguments" : option.section;
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) sections.push_back(section);
  }
  std::stable_partition(sections.begin(), sections.end(),
                        [](const auto& name) { return name == "Arguments"; });
  for (const std::string& section : sections) {
    out += "\n" + section + ":\n";
    for (const OptionInfo& option : command.options) {
      if ((option.positional ? "Arguments" : option.section) != section) continue;
      std::string help = option.help + (option.required && !option.positional ? " (required)" : "");
      if (!option.choices.empty()) help += " {" + base::join(option.choices, ", ") + "}";
      out += entry(described(option), help, column, width);
    }
  }
  if (!command.footer.empty()) out += '\n' + filled(command.footer, width);
  return out;
}

const AppInfo& find_command(const AppInfo& program, const std::vector<std::string>& path) {
  const AppInfo* at = &program;
  for (const std::string& word : path) {
    std::vector<std::string> names;
    const AppInfo* next = nullptr;
    for (const AppInfo& command : at->commands) {
      names.push_back(command.own_name());
      if (names.back() == word) next = &command;
    }
    if (!next) {
      base::fail<base::UsageError>("`{}` has no command `{}`{}", at->name, word,
                                   base::did_you_mean(word, names));
    }
    at = next;
  }
  return *at;
}

void print_help(const AppInfo& program, const std::vector<std::string>& path) {
  fmt::print("{}", help_text(find_command(program, path), base::terminal_width(STDOUT_FILENO, 100)));
}

}  // namespace longtail::cli
