// Entry points for the fuzzers of this module (*_fuzz.cc, fuzz_test.cc): a log, a checkpoint, predictions and
// the texts of a run's choices as bytes, and the metadata of an exported network. No Error leaves an entry.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/base/hash.h"
#include "longtail/data/augmenter.h"
#include "longtail/data/groups.h"
#include "longtail/train/checkpoint.h"
#include "longtail/train/predictions.h"
#include "longtail/train/run_log.h"
#include "longtail/train/safetensors.h"
#include "longtail/train/schedule.h"

namespace longtail::train {

// A log that is accepted is written and read again as itself.
inline void fuzz_log(std::span<const std::uint8_t> input) {
  try {
    const RunLog log = log_of({reinterpret_cast<const char*>(input.data()), input.size()}, "input");
    if (log.schema == 0) return;
    const std::string text = log_text(log);
    const RunLog again = log_of(text, "again");
    if (!again.verified || log_text(again) != text) std::abort();
  } catch (const base::Error&) {
  }
}

// Reads a file that ends with its SHA-256, as it is and with a correct one, so that its content is read too.
template <class Read>
void fuzz_sealed(std::span<const std::uint8_t> input, const Read& read) {
  std::string bytes(reinterpret_cast<const char*>(input.data()), input.size());
  for (const bool mended : {false, true}) {
    if (mended && bytes.size() < 64) return;
    if (mended)
      bytes.replace(bytes.size() - 64, 64,
                    base::sha256(std::string_view(bytes).substr(0, bytes.size() - 64)));
    try {
      read(bytes);
    } catch (const base::Error&) {
    }
  }
}

inline void fuzz_checkpoint(std::span<const std::uint8_t> input) {
  fuzz_sealed(input, [](const std::string& bytes) { checkpoint_of(bytes, "input"); });
}

// Predictions that are accepted are written as the same bytes again.
inline void fuzz_predictions(std::span<const std::uint8_t> input) {
  fuzz_sealed(input, [](const std::string& bytes) {
    if (predictions_bytes(predictions_of(bytes)) != bytes) std::abort();
  });
}

// Any text is a schedule, a chain of augmentations, groups, or an Error; what is accepted has a name that
// means the same.
inline void fuzz_choice(std::span<const std::uint8_t> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto named = [](const auto& make, std::string_view from) {
    try {
      const std::string name = make(from);
      if (make(name) != name) std::abort();
    } catch (const base::Error&) {
    }
  };
  named([](std::string_view t) { return make_schedule(t)->name(); }, text);
  named([](std::string_view t) { return data::Augmenter::parse(t).name(); }, text);
  named([](std::string_view t) { return data::Groups::parse(t).name(); }, text);
}

// Whatever the texts of a run are, the exported file has the form of safetensors: the length of a JSON
// header, the header, tensors without gap or overlap. We have no reader of our own to fuzz.
inline void fuzz_safetensors(std::span<const std::uint8_t> input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  const std::size_t half = text.size() / 2;
  static const nn::ResNetSpec spec = nn::make_spec("resnet20", "projection", 2, 1);
  static const nn::ParameterLayout layout = nn::parameter_layout(spec);
  static const NetworkState network{std::vector<float>(static_cast<std::size_t>(layout.parameter_count)),
                                    std::vector<float>(static_cast<std::size_t>(layout.buffer_count))};
  const std::string file =
      safetensors(spec, network, 1, {{text.substr(0, half), text.substr(half)}, {"format", "pt"}});
  std::uint64_t size = 0;
  if (file.size() < sizeof size) std::abort();
  std::memcpy(&size, file.data(), sizeof size);
  if (size % 8 != 0 || size > file.size() - sizeof size) std::abort();
  const auto header = nlohmann::json::parse(file.substr(sizeof size, size));  // what it throws is a finding
  std::map<std::size_t, std::size_t> places;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    const auto offsets = tensor.at("data_offsets").get<std::vector<std::size_t>>();
    if (offsets.size() != 2 || !places.emplace(offsets[0], offsets[1]).second) std::abort();
  }
  std::size_t end = 0;
  for (const auto& [from, to] : places) {
    if (from != end || to <= from) std::abort();
    end = to;
  }
  if (end != file.size() - sizeof size - size) std::abort();
}

}  // namespace longtail::train
