// What a run predicted for every test image at its best and at its last epoch: a compact file next to the
// log, which has the file's SHA-256 (key `predictions`). For confidence intervals of an accuracy, and of a
// difference between two runs image by image.
//
//   "LTPREDIC" | version u32 | classes u32 | images u64 | labels | best: classes, confidences | last: the
//   same | SHA-256 in 64 digits
//
// Classes are u16 each (u32 from 65,536 classes on), confidences u16 in units of 1/65,535: ten bytes per
// image. Images are in the order of the test split; those of classes that were not trained are left out, so
// two runs on the same data and classes have the same rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longtail::train {

// The network's prediction for one image.
struct Prediction {
  std::int32_t label = 0;  // the predicted class
  float confidence = 0;    // the probability predicted for it
  bool operator==(const Prediction&) const = default;
};

struct Predictions {
  int classes = 0;
  std::vector<std::int32_t> labels{};  // the true classes
  std::vector<Prediction> best{};      // one per image
  std::vector<Prediction> last{};

  std::size_t size() const { return labels.size(); }
  bool operator==(const Predictions&) const = default;
};

// The confidence as the file stores it.
float rounded_confidence(double confidence);

// Next to a log `NAME.json`: `NAME.predictions`.
std::filesystem::path predictions_path(const std::filesystem::path& log_file);

std::string predictions_bytes(const Predictions& predictions);
// From bytes in memory; an Error says what is wrong.
Predictions predictions_of(std::string_view bytes);
// A DamagedFile says what is wrong; `sha256` is the one in the log, empty: not checked.
Predictions read_predictions(const std::filesystem::path& path, const std::string& sha256 = "");

}  // namespace longtail::train
