#include "longtail/data/augment.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace longtail::data {
namespace {

// Few enough slices to keep the pool's overhead low, enough to balance any number of threads.
constexpr std::int64_t kImagesPerSlice = 8;

float normalised(const Dataset& data, std::size_t channel, std::uint8_t value) {
  return (static_cast<float>(value) / 255.0f - data.mean[channel]) / data.deviation[channel];
}

// What each byte of each channel becomes: looking up one of 256 values per channel is cheaper than one
// division per pixel.
template <class Value>
using Table = std::array<std::array<Value, 256>, 3>;

template <class Value>
Table<Value> make_table(const Dataset& data) {
  Table<Value> table{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(data.channels); ++c) {
    for (int v = 0; v < 256; ++v) {
      const float value = normalised(data, c, static_cast<std::uint8_t>(v));
      if constexpr (std::is_same_v<Value, float>) {
        table[c][static_cast<std::size_t>(v)] = value;
      } else {
        table[c][static_cast<std::size_t>(v)] = to_bf16(value);
      }
    }
  }
  return table;
}

// A row of the shifted image: black pixels on both sides make every shift a plain copy, whatever dx is.
struct PaddedRow {
  static constexpr int kMargin = max_shift(kLargestSide);
  int side;
  std::array<std::uint8_t, kLargestSide + 2 * kMargin> bytes{};

  const std::uint8_t* shifted(const std::uint8_t* plane, int y, const Transform& t) {
    const int source = y + t.dy;
    if (source < 0 || source >= side) return kBlack.data();
    std::copy_n(plane + source * side, side, bytes.begin() + kMargin);
    return bytes.data() + kMargin + t.dx;
  }
  static constexpr std::array<std::uint8_t, kLargestSide> kBlack{};
};

// One channel; neighbouring pixels are `stride` values apart in the output.
template <int kStride, class Value>
void write_plane(const std::uint8_t* plane, int side, const Transform& t, const std::array<Value, 256>& table,
                 Value* out) {
  PaddedRow padded{side};
  for (int y = 0; y < side; ++y, out += side * kStride) {
    const std::uint8_t* row = padded.shifted(plane, y, t);
    if (t.flip) {
      for (int x = 0; x < side; ++x) out[x * kStride] = table[row[side - 1 - x]];
    } else {
      for (int x = 0; x < side; ++x) out[x * kStride] = table[row[x]];
    }
  }
}

void write_fast(const std::uint8_t* image, const ImageShape& shape, const Transform& t,
                const Table<float>& table, void* out) {
  for (int c = 0; c < shape.channels; ++c) {
    write_plane<1>(image + c * shape.pixels(), shape.side, t, table[static_cast<std::size_t>(c)],
                   static_cast<float*>(out) + c * shape.pixels());
  }
}

void write_fast(const std::uint8_t* image, const ImageShape& shape, const Transform& t,
                const Table<std::uint16_t>& table, void* out) {
  auto* first = static_cast<std::uint16_t*>(out);
  if (shape.channels == 1) return write_plane<1>(image, shape.side, t, table[0], first);
  for (int c = 0; c < 3; ++c)
    write_plane<3>(image + c * shape.pixels(), shape.side, t, table[static_cast<std::size_t>(c)], first + c);
}

template <class Value>
void write_rows(const Dataset& data, const Split& split, std::span<const std::int32_t> rows,
                const Augmentation& a, std::size_t image_bytes, void* out, base::ThreadPool& pool) {
  const Table<Value> table = make_table<Value>(data);
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto slices = static_cast<int>((count + kImagesPerSlice - 1) / kImagesPerSlice);
  pool.run(slices, [&](int slice, int) {
    const std::int64_t end = std::min(count, (slice + 1) * kImagesPerSlice);
    for (std::int64_t i = slice * kImagesPerSlice; i < end; ++i) {
      const auto index = static_cast<std::size_t>(i);
      const std::uint64_t position =
          a.positions.empty() ? a.first_position + index * a.position_step : a.positions[index];
      const Transform t = a.on ? transform_at(a.seed, a.epoch, position, data.side) : Transform{};
      write_fast(data.image(split, rows[index]).data(), data.shape(), t, table,
                 static_cast<std::byte*>(out) + index * image_bytes);
    }
  });
}

}  // namespace

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Transform transform_at(std::uint64_t seed, std::uint32_t epoch, std::uint64_t position, int side) {
  const base::Block block = base::Stream{seed, base::Purpose::kAugment, epoch}.block(position);
  const int largest = max_shift(side);
  const auto shift = [largest](std::uint32_t bits) {
    return static_cast<int>((std::uint64_t{bits} * static_cast<std::uint64_t>(2 * largest + 1)) >> 32) -
           largest;
  };
  return {shift(block[0]), shift(block[1]), (block[2] >> 31) != 0};
}

void write_image(const Dataset& data, std::span<const std::uint8_t> image, Transform t, PixelLayout layout,
                 void* out) {
  const int side = data.side, pixels = data.shape().pixels();
  for (int c = 0; c < data.channels; ++c) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const int from_y = y + t.dy;
        const int from_x = (t.flip ? side - 1 - x : x) + t.dx;
        const bool inside = from_y >= 0 && from_y < side && from_x >= 0 && from_x < side;
        const auto source = static_cast<std::size_t>(c * pixels + from_y * side + from_x);
        const float value =
            normalised(data, static_cast<std::size_t>(c), inside ? image[source] : std::uint8_t{0});
        if (layout == PixelLayout::kNchwF32) {
          static_cast<float*>(out)[c * pixels + y * side + x] = value;
        } else {
          static_cast<std::uint16_t*>(out)[(y * side + x) * data.channels + c] = to_bf16(value);
        }
      }
    }
  }
}

void write_batch(const Dataset& data, const Split& split, std::span<const std::int32_t> rows,
                 const Augmentation& augmentation, PixelLayout layout, void* out, base::ThreadPool& pool) {
  const std::size_t bytes = bytes_per_image(layout, data.shape());
  if (layout == PixelLayout::kNchwF32) {
    write_rows<float>(data, split, rows, augmentation, bytes, out, pool);
  } else {
    write_rows<std::uint16_t>(data, split, rows, augmentation, bytes, out, pool);
  }
}

}  // namespace longtail::data
