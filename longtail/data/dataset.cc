#include "longtail/data/dataset.h"

#include <bit>
#include <cmath>

#include "longtail/base/error.h"
#include "longtail/base/hash.h"
#include "longtail/base/quote.h"
#include "longtail/base/text.h"

namespace longtail::data {
namespace {

using base::fail;

static_assert(std::endian::native == std::endian::little, "the hash is defined over little-endian numbers");

void check_split(const Dataset& data, const Split& split, std::string_view which, std::string_view where) {
  if (split.labels.empty()) fail("{}: there is no image in the {} split", where, which);
  if (split.pixels.size() != split.labels.size() * data.image_bytes()) {
    fail("{}: the {} split has {} labels but pixels for {} images", where, which, split.labels.size(),
         split.pixels.size() / data.image_bytes());
  }
  for (std::size_t i = 0; i < split.labels.size(); ++i) {
    if (split.labels[i] < 0 || split.labels[i] >= data.classes()) {
      fail("{}: image {} of the {} split has the label {}; there are {} classes, 0 to {}", where, i, which,
           split.labels[i], data.classes(), data.classes() - 1);
    }
  }
}

}  // namespace

std::string content_hash(const Dataset& data) {
  base::Hasher hasher(base::Hasher::kSha256);
  hasher.add(data.side == kSide
                 ? fmt::format("longtail data 1 {} {}\n", data.channels, data.classes())
                 : fmt::format("longtail data 1 {} {} {}\n", data.channels, data.classes(), data.side));
  for (const Split* split : {&data.train, &data.test}) {
    const std::uint64_t size = split->labels.size();
    hasher.add(std::as_bytes(std::span(&size, 1)));
    hasher.add(std::as_bytes(std::span(split->pixels)));
    hasher.add(std::as_bytes(std::span(split->labels)));
  }
  return hasher.hex();
}

void measure_channels(Dataset& data) {
  std::array<std::array<std::uint64_t, 256>, 3> histogram{};
  const auto pixels = static_cast<std::size_t>(data.shape().pixels());
  const std::size_t planes = data.train.pixels.size() / pixels;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    auto& counts = histogram[plane % static_cast<std::size_t>(data.channels)];
    for (const std::uint8_t value : std::span(data.train.pixels).subspan(plane * pixels, pixels))
      ++counts[value];
  }
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(data.channels); ++channel) {
    // Integer sums: exact, so the constants cannot depend on an order of addition.
    std::uint64_t count = 0, sum = 0, squares = 0;
    for (std::uint64_t value = 0; value < 256; ++value) {
      count += histogram[channel][value];
      sum += histogram[channel][value] * value;
      squares += histogram[channel][value] * value * value;
    }
    if (count == 0) continue;
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    const double variance = static_cast<double>(squares) / static_cast<double>(count) - mean * mean;
    data.mean[channel] = static_cast<float>(mean / 255.0);
    // Images of one flat colour have no deviation; dividing by 1 leaves them as they are.
    data.deviation[channel] = variance > 1e-6 ? static_cast<float>(std::sqrt(variance) / 255.0) : 1.0F;
  }
}

void seal(Dataset& data, std::string_view where) {
  if (data.class_names.empty()) fail("{}: there are no classes", where);
  check_split(data, data.train, "training", where);
  check_split(data, data.test, "test", where);
  base::require_plain(fmt::format("{}: the name of the data set", where), data.name);
  for (std::string& name : data.class_names) {
    name = base::to_utf8(name);
    base::require_plain(fmt::format("{}: the name of a class", where), name);
  }
  data.hash = content_hash(data);
}

}  // namespace longtail::data
