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

// What each byte of each channel becomes: 256 values a channel are cheaper to look up than a division a
// pixel.
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

// A row of the shifted image: 4 black pixels either side make every shift a plain copy, whatever dx is.
struct PaddedRow {
  std::array<std::uint8_t, kSide + 2 * kMaxShift> bytes{};

  const std::uint8_t* shifted(const std::uint8_t* plane, int y, const Transform& t) {
    const int source = y + t.dy;
    if (source < 0 || source >= kSide) return kBlack.data();
    std::copy_n(plane + source * kSide, kSide, bytes.begin() + kMaxShift);
    return bytes.data() + kMaxShift + t.dx;
  }
  static constexpr std::array<std::uint8_t, kSide> kBlack{};
};

// One channel; neighbouring pixels are `stride` values apart in the output.
template <int kStride, class Value>
void write_plane(const std::uint8_t* plane, const Transform& t, const std::array<Value, 256>& table,
                 Value* out) {
  PaddedRow padded;
  for (int y = 0; y < kSide; ++y, out += kSide * kStride) {
    const std::uint8_t* row = padded.shifted(plane, y, t);
    if (t.flip) {
      for (int x = 0; x < kSide; ++x) out[x * kStride] = table[row[kSide - 1 - x]];
    } else {
      for (int x = 0; x < kSide; ++x) out[x * kStride] = table[row[x]];
    }
  }
}

void write_fast(const std::uint8_t* image, int channels, const Transform& t, const Table<float>& table,
                void* out) {
  for (int c = 0; c < channels; ++c) {
    write_plane<1>(image + c * kPixels, t, table[static_cast<std::size_t>(c)],
                   static_cast<float*>(out) + c * kPixels);
  }
}

void write_fast(const std::uint8_t* image, int channels, const Transform& t,
                const Table<std::uint16_t>& table, void* out) {
  auto* first = static_cast<std::uint16_t*>(out);
  if (channels == 1) return write_plane<1>(image, t, table[0], first);
  for (int c = 0; c < 3; ++c)
    write_plane<3>(image + c * kPixels, t, table[static_cast<std::size_t>(c)], first + c);
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
      const Transform t =
          a.on ? transform_at(a.seed, a.epoch, a.first_position + index * a.position_step) : Transform{};
      write_fast(data.image(split, rows[index]).data(), data.channels, t, table,
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

Transform transform_at(std::uint64_t seed, std::uint32_t epoch, std::uint64_t position) {
  const base::Block block = base::Stream{seed, base::Purpose::kAugment, epoch}.block(position);
  const auto shift = [](std::uint32_t bits) {
    return static_cast<int>((std::uint64_t{bits} * (2 * kMaxShift + 1)) >> 32) - kMaxShift;
  };
  return {shift(block[0]), shift(block[1]), (block[2] >> 31) != 0};
}

void write_image(const Dataset& data, std::span<const std::uint8_t> image, Transform t, PixelLayout layout,
                 void* out) {
  for (int c = 0; c < data.channels; ++c) {
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const int from_y = y + t.dy;
        const int from_x = (t.flip ? kSide - 1 - x : x) + t.dx;
        const bool inside = from_y >= 0 && from_y < kSide && from_x >= 0 && from_x < kSide;
        const auto source = static_cast<std::size_t>(c * kPixels + from_y * kSide + from_x);
        const float value =
            normalised(data, static_cast<std::size_t>(c), inside ? image[source] : std::uint8_t{0});
        if (layout == PixelLayout::kNchwF32) {
          static_cast<float*>(out)[c * kPixels + y * kSide + x] = value;
        } else {
          static_cast<std::uint16_t*>(out)[(y * kSide + x) * data.channels + c] = to_bf16(value);
        }
      }
    }
  }
}

void write_batch(const Dataset& data, const Split& split, std::span<const std::int32_t> rows,
                 const Augmentation& augmentation, PixelLayout layout, void* out, base::ThreadPool& pool) {
  const std::size_t bytes = bytes_per_image(layout, data.channels);
  if (layout == PixelLayout::kNchwF32) {
    write_rows<float>(data, split, rows, augmentation, bytes, out, pool);
  } else {
    write_rows<std::uint16_t>(data, split, rows, augmentation, bytes, out, pool);
  }
}

}  // namespace longtail::data
