#include "longtail/train/run_log.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/other_version.h"
#include "longtail/base/params.h"
#include "longtail/base/quote.h"
#include "longtail/data/groups.h"
#include "longtail/train/json_fields.h"
#include "longtail/train/log_check.h"

namespace longtail::train {
namespace {

using base::fail;
using nlohmann::json;

constexpr int kDeepest = 32;  // levels of JSON; each is a nested call, and the stack is limited
constexpr std::uint64_t kLargestLog = std::uint64_t{1} << 28;

// ---- configuration: canonical text here, natural types in the file ----

json config_value(const std::string& value, std::string_view type) {
  if (type == "integer") return base::parse_integer(value).value_or(0);
  if (type == "real") return base::parse_real(value).value_or(0);
  if (type == "switch") return value == "true";
  if (type != "integers") return value;
  std::vector<int> list;
  base::detail::parse("", value, list);
  return list;
}

std::string config_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return base::detail::print(value.get<double>());
  if (!value.is_array()) return value.dump();
  std::vector<std::string> parts;
  for (const json& element : value) parts.push_back(config_text(element));
  return base::join(parts, ",");
}

// Text that reads back as itself keeps its natural type; "true" and numbers do, everything else is text.
std::string_view type_of(const std::string& value) {
  if (value == "true" || value == "false") return "switch";
  const auto whole = base::parse_integer(value);
  if (whole && base::detail::print(*whole) == value) return "integer";
  const auto real = base::parse_real(value);
  if (real && std::isfinite(*real) && base::detail::print(*real) == value) return "real";
  return "text";
}

json config_json(const std::map<std::string, std::string>& config) {
  json object = json::object();
  for (const auto& [key, value] : config) {
    const bool list = key == "milestones";
    object[key] = config_value(value, list ? "integers" : type_of(value));
  }
  return object;
}

// ---- results ----

json result_json(const FullResult& result) {
  return {{"epoch", result.epoch},
          {"overall_acc", result.accuracy.overall},
          {"head_acc", result.accuracy.head},
          {"medium_acc", result.accuracy.medium},
          {"tail_acc", result.accuracy.tail},
          {"loss", result.accuracy.loss},
          {"per_class_acc", result.per_class},
          {"macro_f1", result.macro_f1},
          {"balanced_acc", result.balanced},
          {"ece", result.ece},
          {"head_ece", result.head_ece},
          {"medium_ece", result.medium_ece},
          {"tail_ece", result.tail_ece},
          {"confusion", result.confusion}};
}

FullResult read_result(const json& object, const char* key) {
  if (!object.is_object()) fail("the key `{}` is {}, not an object", key, object.type_name());
  const auto read = [&](const char* name) { return number(need(object, name), name); };
  FullResult result;
  result.epoch = static_cast<int>(integer(need(object, "epoch"), "epoch"));
  result.accuracy = {read("overall_acc"), read("head_acc"), read("medium_acc"),
                     read("tail_acc"),    read("loss"),     read("balanced_acc")};
  result.per_class = numbers(need(object, "per_class_acc"), "per_class_acc");
  result.macro_f1 = read("macro_f1");
  result.balanced = read("balanced_acc");
  result.ece = read("ece");
  result.head_ece = read("head_ece");
  result.medium_ece = read("medium_ece");
  result.tail_ece = read("tail_ece");
  for (const json& row : elements(need(object, "confusion"), "confusion")) {
    const std::vector<std::int64_t> wide = counts(row, "confusion");
    for (const std::int64_t count : wide) {
      if (count > std::numeric_limits<int>::max())
        fail("the key `confusion` has {} images, more than can be", count);
    }
    result.confusion.emplace_back(wide.begin(), wide.end());
  }
  return result;
}

Fingerprint read_fingerprint(const json& object) {
  if (!object.is_object()) fail("the key `fingerprint` is {}, not an object", object.type_name());
  const auto read = [&](const char* name) { return text(need(object, name), name); };
  return {read("data"),     read("subset"), read("init"),   read("augment"),
          read("protocol"), read("engine"), read("version")};
}

// ---- the two dialects ----

// Names of the per-epoch lists, in both dialects.
struct EpochList {
  const char* key;
  std::vector<double> RunLog::*list;
  bool accuracy;
};
constexpr std::array<EpochList, 8> kLists = {{{"train_loss", &RunLog::train_loss, false},
                                              {"train_acc", &RunLog::train_acc, true},
                                              {"test_acc", &RunLog::test_acc, true},
                                              {"test_loss", &RunLog::test_loss, false},
                                              {"head_acc", &RunLog::head_acc, true},
                                              {"medium_acc", &RunLog::medium_acc, true},
                                              {"tail_acc", &RunLog::tail_acc, true},
                                              {"lr_history", &RunLog::lr_history, false}}};
// Lists that a log may lack; one that is present has every epoch.
constexpr std::array<EpochList, 3> kOptionalLists = {{{"balanced_acc", &RunLog::balanced_acc, true},
                                                      {"val_acc", &RunLog::val_acc, true},
                                                      {"selection", &RunLog::selection, true}}};

EpochResult at_epoch(const RunLog& log, int epoch) {
  const auto e = static_cast<std::size_t>(epoch);
  return {log.test_acc[e], log.head_acc[e],  log.medium_acc[e],
          log.tail_acc[e], log.test_loss[e], e < log.balanced_acc.size() ? log.balanced_acc[e] : kUnknown};
}

FullResult unknown_result(const RunLog& log, int epoch) {
  FullResult result;
  result.epoch = epoch;
  result.accuracy = at_epoch(log, epoch);
  result.macro_f1 = result.balanced = result.ece = kUnknown;
  result.head_ece = result.medium_ece = result.tail_ece = kUnknown;
  return result;
}

// The paper writes 0.0 for a group without classes; a zero that means "nothing" must not be averaged.
void erase_empty_groups(RunLog& log) {
  const auto sizes = data::Groups::parse(log.groups).trained_sizes(log.class_counts);
  log.group_sizes.assign(sizes.begin(), sizes.end());
  const std::array<std::vector<double> RunLog::*, 3> lists = {&RunLog::head_acc, &RunLog::medium_acc,
                                                              &RunLog::tail_acc};
  for (std::size_t g = 0; g < lists.size(); ++g) {
    if (sizes[g] == 0) std::fill((log.*lists[g]).begin(), (log.*lists[g]).end(), kUnknown);
  }
}

void read_published(const json& object, RunLog& log) {
  const auto dataset = log.config.find("dataset");
  log.dataset = dataset == log.config.end() ? "cifar100" : dataset->second;
  erase_empty_groups(log);
  log.best_epoch =
      static_cast<int>(std::max_element(log.test_acc.begin(), log.test_acc.end()) - log.test_acc.begin());
  log.best = unknown_result(log, log.best_epoch);
  log.last = unknown_result(log, log.epochs() - 1);
  const auto final_value = [&](const char* key, double& value) {
    if (!std::isnan(value)) value = number(need(object, key), key);
  };
  final_value("final_overall_acc", log.best.accuracy.overall);
  final_value("final_head_acc", log.best.accuracy.head);
  final_value("final_medium_acc", log.best.accuracy.medium);
  final_value("final_tail_acc", log.best.accuracy.tail);
  log.best.per_class = numbers(need(object, "final_per_class_acc"), "final_per_class_acc");
  double sum = 0;
  for (const double accuracy : log.best.per_class) sum += accuracy;
  log.best.balanced = sum / static_cast<double>(log.best.per_class.size());
  log.finished = true;
}

ImageFacts read_image(const json& object) {
  if (!object.is_object()) fail("the key `image` is {}, not an object", object.type_name());
  ImageFacts image;
  image.channels = static_cast<int>(integer(need(object, "channels"), "channels"));
  image.side = static_cast<int>(integer(need(object, "side"), "side"));
  image.mean = numbers(need(object, "mean"), "mean");
  image.deviation = numbers(need(object, "deviation"), "deviation");
  image.fit = text(need(object, "fit"), "fit");
  if (image.channels < 1 || std::cmp_not_equal(image.mean.size(), image.channels) ||
      std::cmp_not_equal(image.deviation.size(), image.channels)) {
    fail("the key `image` has {} channels but {} means and {} deviations", image.channels, image.mean.size(),
         image.deviation.size());
  }
  return image;
}

Parent read_parent(const json& object) {
  if (!object.is_object()) fail("the key `parent` is {}, not an object", object.type_name());
  Parent parent;
  parent.protocol = text(need(object, "protocol"), "protocol");
  parent.network = text(need(object, "network"), "network");
  parent.epochs = static_cast<int>(integer(need(object, "epochs"), "epochs"));
  if (object.contains("tau")) {
    parent.tau = number(object["tau"], "tau");
    parent.tau_from = text(need(object, "tau_from"), "tau_from");
  }
  return parent;
}

json parent_json(const Parent& parent) {
  json object = {{"protocol", parent.protocol}, {"network", parent.network}, {"epochs", parent.epochs}};
  if (!parent.tau_from.empty()) {
    object["tau"] = parent.tau;
    object["tau_from"] = parent.tau_from;
  }
  return object;
}

void read_ours(const json& object, RunLog& log) {
  if (log.schema > kLogSchema) {
    fail<base::OtherVersion>("the log has schema {}, this program knows {}; use a newer longtail", log.schema,
                             kLogSchema);
  }
  log.dataset = text(need(object, "dataset"), "dataset");
  log.groups = text(need(object, "groups"), "groups");
  try {
    data::Groups::parse(log.groups);  // readers of the log may use it as a definition
  } catch (const base::Error& error) {
    fail<base::OtherVersion>("the key `groups`: {}", error.what());
  }
  for (const std::int64_t size : counts(need(object, "group_sizes"), "group_sizes")) {
    log.group_sizes.push_back(static_cast<int>(size));
  }
  if (log.group_sizes.size() != 3)
    fail("the key `group_sizes` has {} entries, not 3", log.group_sizes.size());
  log.class_names = texts(need(object, "class_names"), "class_names");
  log.selected_on = text(need(object, "selected_on"), "selected_on");
  if (object.contains("selected_by")) log.selected_by = text(object["selected_by"], "selected_by");
  if (object.contains("selection")) log.selection = numbers(object["selection"], "selection");
  if (object.contains("balanced_acc")) log.balanced_acc = numbers(object["balanced_acc"], "balanced_acc");
  if (object.contains("predictions")) log.predictions = text(object["predictions"], "predictions");
  if (object.contains("parent")) log.parent = read_parent(object["parent"]);
  if (object.contains("image")) log.image = read_image(object["image"]);
  if (object.contains("held_out")) log.held_out = counts(object["held_out"], "held_out");
  if (object.contains("val_acc")) log.val_acc = numbers(object["val_acc"], "val_acc");
  if (object.contains("class_accuracy")) {
    for (const json& row : elements(object["class_accuracy"], "class_accuracy")) {
      log.class_accuracy.push_back(numbers(row, "class_accuracy"));
    }
  }
  log.best_epoch = static_cast<int>(integer(need(object, "best_epoch"), "best_epoch"));
  log.best = read_result(need(object, "best"), "best");
  log.last = read_result(need(object, "last"), "last");
  log.fingerprint = read_fingerprint(need(object, "fingerprint"));
  const json& finished = need(object, "finished");
  if (!finished.is_boolean()) fail("the key `finished` is {}, not true or false", finished.type_name());
  log.finished = finished.get<bool>();
}

void check_accuracies(const std::vector<double>& list, const char* key) {
  for (const double value : list) {
    if (value < 0 || value > 100) fail("the key `{}` has {}, which is no percentage", key, value);
  }
}

void check_log(const RunLog& log) {
  if (log.class_counts.empty()) fail("the key `class_counts` is empty");
  if (log.test_acc.empty()) fail("the key `test_acc` is empty: no epoch was finished");
  for (const EpochList& entry : kLists) {
    const std::size_t size = (log.*entry.list).size();
    if (size != log.test_acc.size()) {
      fail("the key `{}` has {} epochs but `test_acc` has {}", entry.key, size, log.test_acc.size());
    }
    if (entry.accuracy) check_accuracies(log.*entry.list, entry.key);
  }
  for (const EpochList& entry : kOptionalLists) {
    const std::size_t size = (log.*entry.list).size();
    if (size != 0 && size != log.test_acc.size()) {
      fail("the key `{}` has {} epochs but `test_acc` has {}", entry.key, size, log.test_acc.size());
    }
    check_accuracies(log.*entry.list, entry.key);
  }
  if (log.best_epoch < 0 || log.best_epoch >= log.epochs()) {
    fail("the key `best_epoch` is {}, but there are {} epochs", log.best_epoch, log.epochs());
  }
  if (!log.class_accuracy.empty() && log.class_accuracy.size() != log.test_acc.size()) {
    fail("the key `class_accuracy` has {} epochs but `test_acc` has {}", log.class_accuracy.size(),
         log.test_acc.size());
  }
  for (const std::vector<double>& row : log.class_accuracy) {
    check_accuracies(row, "class_accuracy");
    if (row.size() != log.class_counts.size()) {
      fail("the key `class_accuracy` has {} classes, but there are {}", row.size(), log.class_counts.size());
    }
  }
  for (const FullResult* result : {&log.best, &log.last}) {
    check_accuracies(result->per_class, "per_class_acc");
    if (!result->per_class.empty() && result->per_class.size() != log.class_counts.size()) {
      fail("there are {} per-class accuracies but {} classes", result->per_class.size(),
           log.class_counts.size());
    }
  }
}

std::filesystem::path timings_path(const std::filesystem::path& log) {
  return log.parent_path() / "timings.json";
}

}  // namespace

json to_json(const RunLog& log) {
  json object = {{"schema", log.schema},
                 {"dataset", log.dataset},
                 {"strategy", log.strategy},
                 {"imbalance_ratio", log.rho},
                 {"seed", log.seed},
                 {"groups", log.groups},
                 {"group_sizes", log.group_sizes},
                 {"class_counts", log.class_counts},
                 {"class_names", log.class_names},
                 {"config", config_json(log.config)},
                 {"selected_on", log.selected_on},
                 {"best_epoch", log.best_epoch},
                 {"best_acc", log.best.accuracy.overall},
                 {"final_overall_acc", log.best.accuracy.overall},
                 {"final_head_acc", log.best.accuracy.head},
                 {"final_medium_acc", log.best.accuracy.medium},
                 {"final_tail_acc", log.best.accuracy.tail},
                 {"final_per_class_acc", log.best.per_class},
                 {"best", result_json(log.best)},
                 {"last", result_json(log.last)},
                 {"finished", log.finished}};
  for (const EpochList& entry : kLists) object[entry.key] = log.*entry.list;
  if (!log.held_out.empty()) object["held_out"] = log.held_out;
  if (!log.val_acc.empty()) object["val_acc"] = log.val_acc;
  if (!log.class_accuracy.empty()) object["class_accuracy"] = log.class_accuracy;
  if (!log.balanced_acc.empty()) object["balanced_acc"] = log.balanced_acc;
  if (!log.selection.empty()) object["selection"] = log.selection;
  if (log.selected_by != "overall") object["selected_by"] = log.selected_by;
  if (!log.predictions.empty()) object["predictions"] = log.predictions;
  if (log.parent) object["parent"] = parent_json(*log.parent);
  if (log.image.channels > 0) {
    object["image"] = {{"channels", log.image.channels},
                       {"side", log.image.side},
                       {"mean", log.image.mean},
                       {"deviation", log.image.deviation},
                       {"fit", log.image.fit}};
    object["epochs_at_best"] = log.best_epoch + 1;  // counted as on the terminal
  }
  const Fingerprint& print = log.fingerprint;
  object["fingerprint"] = {{"data", print.data},       {"subset", print.subset},     {"init", print.init},
                           {"augment", print.augment}, {"protocol", print.protocol}, {"engine", print.engine},
                           {"version", print.version}};
  return object;
}

RunLog from_json(const json& object) {
  if (!object.is_object()) fail("a run log is a JSON object, not {}", object.type_name());
  RunLog log;
  log.schema = object.contains("schema") ? static_cast<int>(integer(object["schema"], "schema")) : 0;
  log.strategy = text(need(object, "strategy"), "strategy");
  if (log.strategy.empty()) fail("the key `strategy` is empty");
  log.rho = number(need(object, "imbalance_ratio"), "imbalance_ratio");
  log.seed = integer(need(object, "seed"), "seed");
  log.class_counts = counts(need(object, "class_counts"), "class_counts");
  const json& config = need(object, "config");
  if (!config.is_object()) fail("the key `config` is {}, not an object", config.type_name());
  for (const auto& [key, value] : config.items()) {
    base::require_plain("a key of `config`", key);
    log.config[key] = config_text(value);
    base::require_plain(fmt::format("the key `config.{}`", key), log.config[key]);
  }
  for (const EpochList& entry : kLists) log.*entry.list = numbers(need(object, entry.key), entry.key);
  if (log.test_acc.empty()) fail("the key `test_acc` is empty: no epoch was finished");
  if (log.schema == 0) {
    for (const EpochList& entry : kLists) {
      if ((log.*entry.list).size() != log.test_acc.size()) check_log(log);
    }
    read_published(object, log);
  } else {
    read_ours(object, log);
  }
  check_log(log);
  check_agreement(log);
  if (log.schema > 0) check_repeated(object, log);
  log.verified = check_hash(object);
  return log;
}

std::string log_text(const RunLog& log) {
  json object = to_json(log);
  object[kResultsHash] = results_hash(object);
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : object.items()) {
    text += separator;
    text += json(key).dump() + ": " + value.dump();
    separator = ",\n";
  }
  return text + "\n}\n";
}

void write_log(const std::filesystem::path& path, const RunLog& log) {
  const json timings = {{"seconds_training", log.seconds_training},
                        {"seconds_evaluation", log.seconds_evaluation},
                        {"seconds_waiting", log.seconds_waiting}};
  base::write_atomically(timings_path(path), timings.dump(1) + "\n");
  base::write_atomically(path, log_text(log));
}

// Timings are not results: a file that cannot be read counts as missing.
void read_timings(const std::filesystem::path& log_file, RunLog& log) {
  const std::filesystem::path path = timings_path(log_file);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  json object;
  try {
    object = json::parse(base::read_text(path, kLargestLog), nullptr, false);
  } catch (const base::Error&) {
    return;
  }
  if (!object.is_object()) return;
  const auto read = [&](const char* key) {
    const auto found = object.find(key);
    const double value = found != object.end() && found->is_number() ? found->get<double>() : 0.0;
    return std::isfinite(value) && value >= 0 ? value : 0.0;
  };
  log.seconds_training = read("seconds_training");
  log.seconds_evaluation = read("seconds_evaluation");
  log.seconds_waiting = read("seconds_waiting");
}

json parse_shallow(std::string_view text) {
  try {
    return json::parse(text, [](int depth, json::parse_event_t, json&) {
      if (depth > kDeepest) fail("it is nested more than {} levels deep", kDeepest);
      return true;
    });
  } catch (const json::parse_error& error) {
    if (text.empty()) fail<base::DamagedFile>("it is empty");
    if (error.byte > text.size()) fail<base::DamagedFile>("it is cut off after {} bytes", text.size());
    const std::string_view before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    fail<base::DamagedFile>("it is not JSON from line {}, column {} on", line, column);
  }
}

RunLog log_of(std::string_view text, const std::string& name) {
  try {
    return from_json(parse_shallow(text));
  } catch (const json::exception& error) {
    fail<base::DamagedFile>("{} is not a run log: {}", name, base::quote::terminal(error.what()));
  } catch (const base::DamagedFile& error) {
    fail<base::DamagedFile>("{} is not a run log: {}", name, error.what());
  } catch (const base::OtherVersion& error) {
    fail<base::OtherVersion>("{} cannot be used as a run log: {}", name, error.what());
  } catch (const base::Error& error) {
    fail<base::DamagedFile>("{} cannot be used as a run log: {}", name, error.what());
  }
}

RunLog read_log(const std::filesystem::path& path) {
  RunLog log = log_of(base::read_text(path, kLargestLog), path.string());
  read_timings(path, log);
  return log;
}

}  // namespace longtail::train
