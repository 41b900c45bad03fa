// How much of a convolution is processed at a time: a panel of tiles, some rows of tiles of one image or
// several whole images, whose transforms stay in the second-level cache. It is a function of the shape alone,
// never of the machine, because sums are taken panel by panel.
#pragma once

#include <algorithm>
#include <cstddef>

#include "longtail/nn/simd/kernels.h"

namespace longtail::nn::simd {

struct Panel {
  int side = 0;
  int channels = 0;
  int tiles = 0;   // in a row, and rows of tiles in an image
  int images = 1;  // at most this many at a time; more than one only if they are whole
  int rows = 0;    // of tiles, of each image

  // About `wanted` tiles.
  Panel(const SameConv& conv, int wanted)
      : side(conv.side), channels(conv.channels), tiles((conv.side + 3) / 4), rows(tiles) {
    if (tiles * tiles > wanted) {
      rows = std::clamp(wanted / tiles, 1, tiles);
    } else {
      images = std::max(1, wanted / (tiles * tiles));
    }
  }
  int tile_rows() const { return images * rows; }
  int count() const { return tile_rows() * tiles; }

  // Floats between two of the six rows (or columns) of a transform; the odd cache line keeps them apart in
  // the sets of the first-level cache.
  std::ptrdiff_t pitch(std::ptrdiff_t pixels) const { return pixels * channels + 16; }
  std::ptrdiff_t strip_pitch(int margin) const {
    return pitch(std::ptrdiff_t{tile_rows()} * (4 * tiles + margin));
  }
  std::ptrdiff_t tile_pitch() const { return pitch(count()); }
};

// A panel whose number of channels is known at compile time: loops over one or two vectors of channels become
// straight lines, and the distance between pixels or tiles becomes a constant. Kernels take panels by value:
// for all the compiler knows, a store of a vector might change a panel that is held by reference.
template <int kChannels>
struct PanelOf : Panel {
  explicit PanelOf(const Panel& panel) : Panel(panel) {}
  static constexpr int channels = kChannels;
};
// Calls run(panel), with a PanelOf if it has the number of channels of a CIFAR ResNet.
template <class Run>
inline void with_channels(const Panel& p, const Run& run) {
  switch (p.channels) {
    case 16:
      return run(PanelOf<16>(p));
    case 32:
      return run(PanelOf<32>(p));
    case 64:
      return run(PanelOf<64>(p));
    default:
      return run(p);
  }
}

inline Panel forward_panel(const SameConv& conv) { return Panel(conv, 16); }
inline Panel backward_panel(const SameConv& conv) {
  return Panel(conv, std::clamp(1024 / conv.channels, 8, 64));
}

}  // namespace longtail::nn::simd
