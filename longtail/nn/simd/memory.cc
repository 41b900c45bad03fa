#include "longtail/nn/simd/memory.h"

#include <algorithm>

namespace longtail::nn::simd {

Scratch::Scratch(const NetworkPlan& plan, int slice_images, int predict_images) {
  std::size_t kernel_floats = 0, sums = 0, weight_floats = 0, in_grid = 0, out_grid = 0, padded = 0,
              image = 0;
  plan.each_unit([&](const ConvUnit& unit) {
    weight_floats = std::max(weight_floats, static_cast<std::size_t>(unit.weight_size()));
    image = std::max({image, unit.index == 0 ? 0 : in_floats(unit), out_floats(unit)});
    if (is_same(unit)) {
      const SameConv conv = same_conv(unit);
      kernel_floats = std::max({kernel_floats, forward_scratch(conv), backward_scratch(conv)});
      sums = std::max(sums, packed_floats(unit));
    } else {
      in_grid = std::max(in_grid, grid_floats(unit.side, unit.in));
      out_grid = std::max(out_grid, grid_floats(unit.out_side(), unit.out));
    }
  });
  for (const BlockPlan& block : plan.blocks) {
    if (block.skip != Skip::kPad) continue;
    padded = std::max(
        {padded, static_cast<std::size_t>(slice_images) * out_floats(block.first), in_floats(block.first)});
  }
  kernel = Buffer<float>(kernel_floats);
  weight_sums = Buffer<float>(sums);
  weights = Buffer<float>(weight_floats);
  grid = Buffer<float>(in_grid);
  gradient_grid = Buffer<float>(out_grid);
  side_grid = Buffer<float>(out_grid);
  skip = Buffer<float>(padded);
  const std::size_t predicted = static_cast<std::size_t>(predict_images) * image;
  x = Buffer<float>(predicted);
  inner = Buffer<float>(predicted);
  side = Buffer<float>(predicted);
}

Activations::Activations(const NetworkPlan& plan, int batch) {
  std::size_t total = 0;
  const auto take = [&](std::size_t floats) {
    const std::size_t at = total;
    total += static_cast<std::size_t>(batch) * floats;
    return at;
  };
  plan.each_unit([&](const ConvUnit& unit) { z_.push_back(take(out_floats(unit))); });
  for (const BlockPlan& block : plan.blocks) {
    x_size_.push_back(in_floats(block.first));
    x_.push_back(take(x_size_.back()));
    gradient_.push_back(block.skip == Skip::kIdentity ? z_[static_cast<std::size_t>(block.second.index)]
                                                      : take(x_size_.back()));
  }
  x_size_.push_back(out_floats(plan.blocks.back().second));
  x_.push_back(take(x_size_.back()));
  gradient_.push_back(take(x_size_.back()));
  values_ = Buffer<float>(total);
}

}  // namespace longtail::nn::simd
