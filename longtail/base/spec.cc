#include "longtail/base/spec.h"

#include <algorithm>
#include <cctype>

namespace longtail::base {
namespace {

constexpr int kDeepest = 16;  // levels of nested choices; more is a mistake
thread_local int choices_under_way = 0;

// Splits at commas that are outside brackets.
std::vector<std::string> split_arguments(std::string_view family, std::string_view whole,
                                         std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (depth < 0) break;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) fail("{} `{}`: its brackets do not match", family, whole);
  return parts;
}

void read_arguments(std::string_view whole, std::string_view text, Choice& choice) {
  for (const std::string& part : split_arguments(choice.family, whole, text)) {
    const auto equals = part.find('=');
    const std::string key(trim(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos || key.empty()) {
      fail("{} `{}`: `{}` is not `key=value`; write `name:key=value,key=value`", choice.family, whole, part);
    }
    for (const auto& [other, value] : choice.arguments) {
      if (other == key) fail("{} `{}`: `{}` is given twice", choice.family, whole, key);
    }
    choice.arguments.emplace_back(key, trim(std::string_view(part).substr(equals + 1)));
  }
}

}  // namespace

Choice read_choice(std::string_view family, std::string_view text) {
  const std::string_view whole = trim(text);
  const auto end = whole.find_first_of(":(");
  Choice choice{std::string(family), std::string(trim(whole.substr(0, end))), {}};
  if (end == std::string_view::npos) return choice;
  std::string_view inside = whole.substr(end + 1);
  if (whole[end] == '(') {
    if (!inside.ends_with(')')) fail("{} `{}`: its brackets do not match", family, whole);
    inside.remove_suffix(1);
  }
  read_arguments(whole, inside, choice);
  return choice;
}

std::vector<std::string> split_chain(std::string_view text) {
  std::vector<std::string> links(1);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    const bool digit = i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (text[i] == '+' && depth == 0 && !digit) {
      links.emplace_back();
    } else {
      links.back() += text[i];
    }
  }
  return links;
}

std::string in_brackets(std::string text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return text;
  text[colon] = '(';
  return text + ")";
}

std::string VariantInfo::parameter_words() const {
  std::vector<std::string> words;
  for (const ParamInfo& info : parameters) {
    words.push_back(info.name + ": " + info.range + " (default " + info.initial + ")");
  }
  return join(words, "; ");
}

std::string VariantInfo::written_out() const {
  std::string text = name;
  for (const ParamInfo& info : parameters) {
    text += (text.size() == name.size() ? ":" : ",") + info.name + "=" + info.initial;
  }
  return text;
}

namespace detail {

Nesting::Nesting(std::string_view family) {
  if (choices_under_way > kDeepest)
    fail("a {} has more than {} others inside each other; leave out those that change nothing", family,
         kDeepest);
  ++choices_under_way;
}

Nesting::~Nesting() { --choices_under_way; }

void refuse_argument(const Choice& choice, const std::string& key, const std::vector<std::string>& known,
                     const char* error) {
  if (known.empty()) fail("{} `{}`: it has no parameters, but got `{}`", choice.family, choice.name, key);
  std::string there;
  if (std::find(known.begin(), known.end(), key) == known.end() && !nearest(key, known)) {
    there = "; it takes " + join(known, ", ");
  }
  fail("{} `{}`: {}{}", choice.family, choice.name, error, there);
}

void refuse_name(std::string_view family, const std::string& name, const std::vector<VariantInfo>& known) {
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const VariantInfo& info : known) names.push_back(info.name);
  fail("unknown {} `{}`; there are {}{}", family, name, join(names, ", "), did_you_mean(name, names));
}

}  // namespace detail
}  // namespace longtail::base
