#include "longtail/train/predictions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"

namespace longtail::train {
namespace {

using base::fail;

static_assert(std::endian::native == std::endian::little, "the file is little-endian");

constexpr std::string_view kMagic = "LTPREDIC";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPrefix = 24;
constexpr std::size_t kChecksum = 64;
constexpr double kUnits = 65535;

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T take(std::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

std::size_t class_bytes(std::uint32_t classes) { return classes <= 65536 ? 2 : 4; }

void append_class(std::string& out, std::int32_t label, std::uint32_t classes) {
  if (class_bytes(classes) == 2) {
    append(out, static_cast<std::uint16_t>(label));
  } else {
    append(out, static_cast<std::uint32_t>(label));
  }
}

std::int32_t take_class(std::string_view& bytes, std::uint32_t classes) {
  const std::uint32_t label =
      class_bytes(classes) == 2 ? take<std::uint16_t>(bytes) : take<std::uint32_t>(bytes);
  if (label >= classes) fail("it has the class {} of {}", label, classes);
  return static_cast<std::int32_t>(label);
}

std::uint16_t units(double confidence) {
  return static_cast<std::uint16_t>(std::lround(std::clamp(confidence, 0.0, 1.0) * kUnits));
}

float from_units(std::uint16_t value) { return static_cast<float>(value / kUnits); }

void take_epoch(std::string_view& bytes, std::uint32_t classes, std::vector<Prediction>& out) {
  for (Prediction& one : out) one.label = take_class(bytes, classes);
  for (Prediction& one : out) one.confidence = from_units(take<std::uint16_t>(bytes));
}

}  // namespace

Predictions predictions_of(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) fail("it holds no predictions of longtail");
  if (bytes.size() < kPrefix + kChecksum) fail("it is cut short: {} bytes", bytes.size());
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksum);
  if (base::sha256(covered) != bytes.substr(covered.size())) fail("it is damaged or cut short");
  std::string_view rest = covered.substr(kMagic.size());
  if (const auto version = take<std::uint32_t>(rest); version != kVersion) {
    fail("it has version {}, this program reads version {}", version, kVersion);
  }
  const auto classes = take<std::uint32_t>(rest);
  if (classes > static_cast<std::uint32_t>(std::numeric_limits<int>::max()))
    fail("it has {} classes", classes);
  const auto images = take<std::uint64_t>(rest);
  const std::size_t each = 3 * class_bytes(classes) + 2 * sizeof(std::uint16_t);
  if (images > rest.size() / each || images * each != rest.size())
    fail("its length is not that of {} images", images);
  Predictions result;
  result.classes = static_cast<int>(classes);
  result.labels.resize(images);
  result.best.resize(images);
  result.last.resize(images);
  for (std::int32_t& label : result.labels) label = take_class(rest, classes);
  take_epoch(rest, classes, result.best);
  take_epoch(rest, classes, result.last);
  return result;
}

float rounded_confidence(double confidence) { return from_units(units(confidence)); }

std::filesystem::path predictions_path(const std::filesystem::path& log_file) {
  std::filesystem::path path = log_file;
  return path.replace_extension(".predictions");
}

std::string predictions_bytes(const Predictions& predictions) {
  const auto classes = static_cast<std::uint32_t>(predictions.classes);
  std::string bytes(kMagic);
  append(bytes, kVersion);
  append(bytes, classes);
  append(bytes, std::uint64_t{predictions.size()});
  for (const std::int32_t label : predictions.labels) append_class(bytes, label, classes);
  for (const auto* epoch : {&predictions.best, &predictions.last}) {
    for (const Prediction& one : *epoch) append_class(bytes, one.label, classes);
    for (const Prediction& one : *epoch) append(bytes, units(one.confidence));
  }
  return bytes + base::sha256(bytes);
}

Predictions read_predictions(const std::filesystem::path& path, const std::string& sha256) {
  const std::string bytes = base::read_text(path);
  try {
    if (!sha256.empty() && base::sha256(bytes) != sha256) fail("it is not the file that the log names");
    return predictions_of(bytes);
  } catch (const base::Error& error) {
    fail<base::DamagedFile>("{} cannot be used: {}", path.string(), error.what());
  }
}

}  // namespace longtail::train
