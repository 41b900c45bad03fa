#include "longtail/study/study_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/quote.h"
#include "longtail/base/spec.h"
#include "longtail/base/text.h"
#include "longtail/nn/loss.h"
#include "longtail/sampling/strategy.h"
#include "longtail/study/selection.h"
#include "longtail/train/config.h"

namespace longtail::study {
namespace {

using base::did_you_mean;
using base::fail;
using base::UsageError;

constexpr std::string_view kGrid = "grid";
constexpr std::string_view kCase = "case";
constexpr std::string_view kTrainer = "trainer";
constexpr std::string_view kParams = "params";

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const auto& entry : train::run_params().entries()) {
    if (std::find(names.begin(), names.end(), entry.info.section) == names.end()) {
      names.push_back(entry.info.section);
    }
  }
  names.emplace_back(kGrid);
  names.emplace_back(kTrainer);
  return names;
}

// What a key means: a parameter of a run or one of a strategy.
struct Meaning {
  const base::ParamInfo* info = nullptr;  // null: of a strategy
  std::string section;                    // where it belongs
};

Meaning meaning_of(const std::string& key, const std::string& section, const std::string& where) {
  const auto& table = train::run_params();
  const auto* entry = table.find(key);
  if (entry) {
    if (section != kGrid && section != kCase && section != entry->info.section) {
      fail<UsageError>("{}: `{}` belongs to [{}], not [{}]", where, key, entry->info.section, section);
    }
    return {&entry->info, entry->info.section};
  }
  const std::vector<std::string> extra = strategy_parameters();
  if (std::find(extra.begin(), extra.end(), key) != extra.end()) {
    if (section != kGrid && section != kCase && section != "train") {
      fail<UsageError>("{}: `{}`, a parameter of a sampling strategy, belongs to [train] or [grid]", where,
                       key);
    }
    return {nullptr, "train"};
  }
  std::vector<std::string> known = table.names();
  known.insert(known.end(), extra.begin(), extra.end());
  fail<UsageError>("{}: unknown key `{}` in [{}]{}", where, key, section, did_you_mean(key, known));
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

// A list of integers in the form of the parameter table: "160,180".
std::string joined(const toml::array& list, const std::string& key, const std::string& where) {
  std::vector<std::string> parts;
  for (const toml::node& item : list) {
    if (!item.is_integer()) fail<UsageError>("{}: `{}` takes whole numbers, as in [160, 180]", where, key);
    parts.push_back(*scalar_text(item));
  }
  return base::join(parts, ",");
}

std::vector<std::string> list_values(const toml::array& list, bool of_lists, const std::string& key,
                                     const std::string& where) {
  std::vector<std::string> values;
  for (const toml::node& item : list) {
    if (of_lists && item.is_array()) {
      values.push_back(joined(*item.as_array(), key, where));
    } else if (const auto text = scalar_text(item); text && !of_lists) {
      values.push_back(*text);
    } else {
      fail<UsageError>("{}: `{}` must be a list of {}", where, key,
                       of_lists ? "lists, as in [[160, 180], [120, 160]]" : "plain values, as in [1, 2]");
    }
  }
  return values;
}

std::vector<std::string> node_values(const toml::node& node, const Meaning& meaning, bool in_grid,
                                     const std::string& key, const std::string& where) {
  if (const auto* list = node.as_array()) {
    const bool takes_list = meaning.info && meaning.info->type == "integers";
    if (list->empty() && (in_grid || !takes_list)) {
      fail<UsageError>("{}: `{}` is an empty list, so the grid has no run; give it at least one value", where,
                       key);
    }
    if (takes_list && (list->empty() || !list->front().is_array())) return {joined(*list, key, where)};
    return list_values(*list, takes_list, key, where);
  }
  const auto text = scalar_text(node);
  if (!text) fail<UsageError>("{}: `{}` must be a plain value or a list of them", where, key);
  return {*text};
}

// Makes the path of a file absolute: it is relative to the current folder, and the study may be resumed from
// another. A missing file is left as given and refused under that name when the run is made.
std::string whole_path(const std::string& key, const std::string& text) {
  std::error_code error;
  if (!train::names_file(key, text) || !std::filesystem::exists(text, error)) return text;
  return std::filesystem::absolute(text).lexically_normal().string();
}

// The canonical text of a value that is valid on its own; otherwise an Error that names the place.
std::string checked(const Meaning& meaning, const std::string& key, const std::string& text,
                    const std::string& where) {
  try {
    if (!meaning.info) {
      const auto value = base::parse_real(text);  // 1 and 1.0 are the same value
      return value ? fmt::format("{}", *value) : text;
    }
    train::RunConfig trial;
    train::run_params().set(trial, key, text);
    const std::string canonical = train::run_params().find(key)->get(trial);
    if (key == "strategy") return sampling::canonical_strategy(canonical);
    return key == "loss" ? nn::canonical_loss(canonical) : whole_path(key, canonical);
  } catch (const base::Error& error) {
    fail<UsageError>("{}: {}", where, error.what());
  }
}

Setting make_setting(const std::string& section, const std::string& key, const toml::node& node,
                     const std::string& where) {
  const Meaning meaning = meaning_of(key, section, where);
  Setting setting{key, {}, where, meaning.info == nullptr};
  for (const std::string& text : node_values(node, meaning, section == kGrid, key, where)) {
    base::require_plain(fmt::format("{}: `{}`", where, key), text);
    const std::string value = checked(meaning, key, text, where);
    if (std::find(setting.values.begin(), setting.values.end(), value) != setting.values.end()) {
      fail<UsageError>("{}: `{}` has `{}` twice", where, key, value);
    }
    setting.values.push_back(value);
    if (key != "strategy") continue;
    for (const auto& [said, ignored] : base::read_choice(key, text).arguments) setting.said.push_back(said);
  }
  if (setting.axis() && meaning.info && !meaning.info->identity) {
    fail<UsageError>("{}: `{}` does not change what a run computes, so it cannot be an axis of the grid",
                     where, key);
  }
  return setting;
}

// Text for a trainer. Scripts contain newlines and tabs; study.toml cannot hold other control characters.
std::string trainer_text(std::string text, const std::string& key, const std::string& where) {
  std::string rest = text;
  std::erase_if(rest, [](char c) { return c == '\n' || c == '\t'; });
  base::require_plain(fmt::format("{}: `{}`", where, key), rest);
  return text;
}

// A value of [trainer.params] as JSON, which keeps its type.
std::string param_value(const toml::node& node, const std::string& key, const std::string& where) {
  if (const auto* text = node.as_string())
    return nlohmann::json(trainer_text(text->get(), key, where)).dump();
  if (const auto* real = node.as_floating_point()) {
    if (!std::isfinite(real->get()))
      fail<UsageError>("{}: `{}` is {}, which JSON cannot say; give it as text (\"{}\")", where, key,
                       real->get(), real->get());
    return nlohmann::json(real->get()).dump();
  }
  if (const auto text = scalar_text(node)) return *text;
  fail<UsageError>("{}: `{}` must be a plain value, or a list of plain values as an axis", where, key);
}

Setting param_setting(const std::string& key, const toml::node& node, const std::string& where) {
  base::require_plain(where + ": the name of a parameter", key);
  if (train::run_params().find(key))
    fail<UsageError>("{}: `{}` is a parameter of a run; give a parameter of the trainer another name", where,
                     key);
  Setting setting{key, {}, where, false, true};
  const toml::array* list = node.as_array();
  if (!list) {
    setting.values.push_back(param_value(node, key, where));
  } else {
    for (const toml::node& item : *list) {
      const std::string value = param_value(item, key, where);
      if (std::find(setting.values.begin(), setting.values.end(), value) != setting.values.end())
        fail<UsageError>("{}: `{}` has `{}` twice", where, key, value);
      setting.values.push_back(value);
    }
  }
  if (setting.values.empty())
    fail<UsageError>("{}: `{}` is an empty list, so the grid has no run; give it at least one value", where,
                     key);
  return setting;
}

void set_trainer(Trainer& trainer, const std::string& key, const toml::node& node, const std::string& where) {
  const std::vector<std::string> known = {"command", "time_limit", "retries", "params"};
  if (key == "command") {
    const toml::array* list = node.as_array();
    if (list) {
      trainer.command.clear();
      for (const toml::node& word : *list) {
        if (!word.is_string()) list = nullptr;
        if (!list) break;
        trainer.command.push_back(trainer_text(word.as_string()->get(), key, where));
      }
    }
    if (!list || list->empty())
      fail<UsageError>(
          "{}: `command` is a list of words, as in [\"python3\", \"train.py\", \"{{config}}\", \"{{run}}\"]",
          where);
  } else if (key == "time_limit") {
    if (!node.is_string()) fail<UsageError>("{}: `time_limit` is text, as in \"2h\" or \"90m\"", where);
    try {
      trainer.seconds = parse_duration(node.as_string()->get());
    } catch (const UsageError& error) {
      fail<UsageError>("{}: `time_limit`: {}", where, error.what());
    }
  } else if (key == "retries") {
    const auto* whole = node.as_integer();
    if (!whole || whole->get() < 0 || whole->get() > 100)
      fail<UsageError>("{}: `retries` is a whole number from 0 to 100", where);
    trainer.retries = static_cast<int>(whole->get());
  } else {
    fail<UsageError>("{}: unknown key `{}` in [trainer]{}", where, key, did_you_mean(key, known));
  }
}

std::string place(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}", source, region.begin.line);
}

// A table's entries in the order of the file (toml++ keeps them sorted by name).
std::vector<std::pair<const toml::key*, const toml::node*>> in_file_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (auto&& [key, node] : table) entries.emplace_back(&key, &node);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto &x = a.first->source().begin, &y = b.first->source().begin;
    return std::tie(x.line, x.column) < std::tie(y.line, y.column);
  });
  return entries;
}

void read_heading(StudyFile& study, const std::string& key, const toml::node& node,
                  const std::string& where) {
  const std::vector<std::string> known = {"name", "about"};
  if (key != "name" && key != "about") {
    fail<UsageError>("{}: unknown key `{}` outside the sections{}", where, key, did_you_mean(key, known));
  }
  const auto* text = node.as_string();
  if (!text) fail<UsageError>("{}: `{}` must be text in quotes", where, key);
  if (key == "name" && text->get().empty()) fail<UsageError>("{}: `name` is empty", where);
  std::string words = text->get();
  if (key == "about") std::replace(words.begin(), words.end(), '\n', ' ');  // it may have several lines
  base::require_plain(fmt::format("{}: `{}`", where, key), words);
  (key == "name" ? study.name : study.about) = words;
}

void add_setting(StudyFile& study, Setting setting) {
  if (const Setting* other = study.find(setting.key)) {
    fail<UsageError>("{}: `{}` was given before, at {}", setting.where, setting.key, other->where);
  }
  study.settings.push_back(std::move(setting));
}

void read_params(StudyFile& study, const toml::node& node, const std::string& source,
                 const std::string& where) {
  if (!node.is_table()) fail<UsageError>("{}: `params` is a table of parameters of the trainer", where);
  for (const auto& [key, value] : in_file_order(*node.as_table()))
    add_setting(study, param_setting(std::string(key->str()), *value, place(source, key->source())));
}

void read_trainer(StudyFile& study, const toml::table& table, const std::string& source,
                  const std::string& where) {
  if (!study.trainer) study.trainer.emplace();
  for (const auto& [key, node] : in_file_order(table)) {
    const std::string at = place(source, key->source());
    if (key->str() == kParams) {
      read_params(study, *node, source, at);
    } else {
      set_trainer(*study.trainer, std::string(key->str()), *node, at);
    }
  }
  if (study.trainer->command.empty()) fail<UsageError>("{}: [trainer] has no `command`", where);
}

void read_section(StudyFile& study, const std::string& section, const toml::table& table,
                  const std::string& source) {
  for (const auto& [key, node] : in_file_order(table)) {
    if (section == kGrid && key->str() == kParams) {
      read_params(study, *node, source, place(source, key->source()));
    } else {
      add_setting(study, make_setting(section, std::string(key->str()), *node, place(source, key->source())));
    }
  }
}

void read_cases(StudyFile& study, const toml::array& cases, const std::string& source,
                const std::string& where) {
  for (const toml::node& node : cases) {
    StudyFile one;
    if (const toml::table* table = node.as_table()) read_section(one, std::string(kCase), *table, source);
    if (one.settings.empty()) fail<UsageError>("{}: a [[case]] sets at least one parameter", where);
    for (const Setting& setting : one.settings) {
      if (setting.key == "engine") {
        fail<UsageError>("{}: `engine` cannot be of a case: the runs of a study must be comparable",
                         setting.where);
      }
    }
    study.cases.push_back(std::move(one.settings));
  }
}

}  // namespace

StudyFile StudyFile::of_case(const std::vector<Setting>& settings_of_case) const {
  StudyFile one = *this;
  one.cases.clear();
  for (const Setting& setting : settings_of_case) {
    const auto old = std::find_if(one.settings.begin(), one.settings.end(),
                                  [&](const Setting& other) { return other.key == setting.key; });
    if (old == one.settings.end()) {
      one.settings.push_back(setting);
    } else {
      *old = setting;
    }
  }
  return one;
}

const Setting* StudyFile::find(std::string_view key) const {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const Setting& s) { return s.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

StudyFile parse_study(std::string_view text, const std::string& source) {
  toml::table document;
  try {
    document = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    fail<UsageError>("{}: {}", place(source, error.source()), error.description());
  }
  StudyFile study;
  study.name = std::filesystem::path(source).stem().string();
  base::require_plain("the name of the study file", study.name);
  const std::vector<std::string> sections = section_names();
  for (const auto& [key, node] : in_file_order(document)) {
    const std::string name(key->str());
    const std::string where = place(source, key->source());
    if (name == kCase && node->is_array()) {
      read_cases(study, *node->as_array(), source, where);
    } else if (!node->is_table()) {
      read_heading(study, name, *node, where);
    } else if (name == kTrainer) {
      read_trainer(study, *node->as_table(), source, where);
    } else if (std::find(sections.begin(), sections.end(), name) == sections.end()) {
      fail<UsageError>("{}: unknown section [{}]{}; the sections are {}", where, name,
                       did_you_mean(name, sections), base::join(sections, ", "));
    } else {
      read_section(study, name, *node->as_table(), source);
    }
  }
  if (!study.trainer) {
    for (const Setting& setting : study.settings) {
      if (setting.of_trainer)
        fail<UsageError>("{}: `{}` is a parameter of a trainer, but there is no [trainer] with a `command`",
                         setting.where, setting.key);
    }
  }
  return study;
}

StudyFile read_study(const std::filesystem::path& path) {
  return parse_study(base::read_text(path, std::uint64_t{1} << 20), path.string());
}

void override_setting(StudyFile& study, const std::string& assignment) {
  const std::string where = "--set " + assignment;
  const auto equals = assignment.find('=');
  const auto dot = assignment.find('.');
  if (equals == std::string::npos || dot == std::string::npos || dot > equals) {
    fail<UsageError>("{}: write it as section.key=value, as in --set train.epochs=20", where);
  }
  const std::string section(base::trim(assignment.substr(0, dot)));
  const std::string key(base::trim(assignment.substr(dot + 1, equals - dot - 1)));
  const std::string value(base::trim(assignment.substr(equals + 1)));
  const std::vector<std::string> sections = section_names();
  if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
    fail<UsageError>("{}: unknown section `{}`{}; the sections are {}", where, section,
                     did_you_mean(section, sections), base::join(sections, ", "));
  }
  toml::table document;
  try {
    document = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    if (value.starts_with('['))
      fail<UsageError>("{}: the list does not parse; write it as [1, 2] or [\"a\", \"b\"]", where);
    document.insert("value", value);
  }
  if (section == kTrainer && !key.starts_with("params.")) {
    if (!study.trainer) study.trainer.emplace();
    set_trainer(*study.trainer, key, *document.get("value"), where);
    return;
  }
  Setting setting = key.starts_with("params.") && (section == kTrainer || section == kGrid)
                        ? param_setting(key.substr(key.find('.') + 1), *document.get("value"), where)
                        : make_setting(section, key, *document.get("value"), where);
  for (std::vector<Setting>& one : study.cases)
    std::erase_if(one, [&](const Setting& other) { return other.key == setting.key; });
  study.settings = study.of_case({setting}).settings;
}

std::vector<std::string> strategy_parameters() {
  std::set<std::string> names;
  for (const auto& info : sampling::strategies()) {
    for (const base::ParamInfo& parameter : info.parameters) names.insert(parameter.name);
  }
  return {names.begin(), names.end()};
}

bool strategy_takes(std::string_view strategy, std::string_view key) {
  const std::string_view base_name = strategy.substr(0, strategy.find(':'));
  for (const auto& info : sampling::strategies()) {
    if (info.name != base_name) continue;
    return std::any_of(info.parameters.begin(), info.parameters.end(),
                       [&](const base::ParamInfo& parameter) { return parameter.name == key; });
  }
  return false;
}

}  // namespace longtail::study
