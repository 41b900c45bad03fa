#include "longtail/study/sharing.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "longtail/base/text.h"

namespace longtail::study {
namespace {

using Key = std::function<bool(const base::ParamInfo&)>;  // selects the parameters that a thing depends on

// Anything may depend on the parameters of a trainer, so all of them are part of the key.
std::string key_of(const PlannedRun& run, const Key& depends) {
  std::string text;
  for (const auto& entry : train::run_params().entries()) {
    if (depends(entry.info)) text += entry.info.name + "=" + entry.get(run.config) + ";";
  }
  if (!run.trainer) return text;
  for (const auto& [key, value] : run.trainer->params) text += fmt::format("{}={};", key, value);
  return text;
}

struct Shared {
  std::string name;
  bool said;  // named in the sentence
  std::string train::Fingerprint::*member;
  Key depends;
};

const std::vector<Shared>& shared_things() {
  using Info = base::ParamInfo;
  static const std::vector<Shared> all = {
      {"data", false, &train::Fingerprint::data,
       [](const Info& p) {
         return p.name == "dataset" || p.name == "image_size" || p.name == "fit" ||
                p.name == "skip_unreadable";
       }},
      {"subset", true, &train::Fingerprint::subset,
       [](const Info& p) { return p.name == "seed" || (p.section == "data" && p.name != "augment"); }},
      {"initial weights", true, &train::Fingerprint::init,
       [](const Info& p) {
         return p.name == "seed" || p.name == "dataset" || (p.section == "model" && p.name != "engine");
       }},
      {"augmentation", true, &train::Fingerprint::augment,
       [](const Info& p) { return p.name == "seed" || p.name == "augment" || p.name == "image_size"; }},
  };
  return all;
}

}  // namespace

std::string Sharing::sentence() const {
  if (runs == 0) return "No run is finished yet.";
  if (!problems.empty()) return fmt::format("The runs are NOT comparable: {}.", fmt::join(problems, "; "));
  std::vector<std::string> sentences;
  if (!checked.empty()) {
    sentences.push_back(fmt::format("Within each seed all strategies share {} (checked on {} {}).",
                                    base::listed(checked), runs, runs == 1 ? "run" : "runs"));
  }
  if (!untold.empty()) {
    sentences.push_back(fmt::format("Whether the runs of a seed share {} is not known: not every log tells.",
                                    base::listed(untold)));
  }
  return base::join(sentences, " ");
}

Sharing check_sharing(std::span<const PlannedRun> runs, std::span<const RunState> states) {
  Sharing sharing;
  for (const RunState& state : states) sharing.runs += state.status == Status::kDone;
  for (const Shared& thing : shared_things()) {
    std::map<std::string, std::size_t> first;  // key -> the first run that has it
    int told = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (states[i].status != Status::kDone || (states[i].fingerprint.*thing.member).empty()) continue;
      ++told;
      const auto [other, fresh] = first.emplace(key_of(runs[i], thing.depends), i);
      if (!fresh && states[i].fingerprint.*thing.member != states[other->second].fingerprint.*thing.member) {
        sharing.problems.push_back(fmt::format("the {} of {} and of {} are not the same", thing.name,
                                               runs[i].name, runs[other->second].name));
      }
    }
    if (thing.said) (told == sharing.runs ? sharing.checked : sharing.untold).push_back(thing.name);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (states[i].status == Status::kDone && states[i].fingerprint.protocol != runs[i].hash) {
      sharing.problems.push_back(
          fmt::format("the log of {} was made with another configuration", runs[i].name));
    }
  }
  return sharing;
}

}  // namespace longtail::study
