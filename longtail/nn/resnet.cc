#include "longtail/nn/resnet.h"

#include <fmt/format.h>

#include <algorithm>

#include "longtail/base/error.h"
#include "longtail/base/text.h"

namespace longtail::nn {
namespace {

const std::vector<std::string> kModels = {"resnet20", "resnet32", "resnet44", "resnet56", "resnet110"};
const std::vector<std::string> kShortcuts = {"projection", "pad"};
const std::vector<std::string> kHeads = {"linear", "cosine"};

const View& find(const std::vector<View>& views, std::string_view name) {
  for (const View& view : views) {
    if (view.name == name) return view;
  }
  base::fail("the network has no part named `{}`", name);
}

// Walks the modules in the order in which PyTorch builds them; layout and plan are two results of this one
// walk.
class Walk {
 public:
  explicit Walk(const ResNetSpec& spec) {
    const int first = 16 * spec.width;
    plan.stem = unit("conv1", "bn1", spec.channels, first, 3, 1, spec.side);
    int in = first;
    int side = spec.side;
    for (int stage = 0; stage < 3; ++stage) {
      const int out = first << stage;
      for (int index = 0; index < spec.blocks_per_stage(); ++index) {
        const int stride = stage > 0 && index == 0 ? 2 : 1;
        plan.blocks.push_back(
            block(spec, fmt::format("layer{}.{}.", stage + 1, index), in, out, stride, side));
        in = out;
        side /= stride;
      }
    }
    plan.linear_weight = parameter("linear.weight", {spec.classes, in});
    plan.linear_bias = spec.head == Head::kLinear ? parameter("linear.bias", {spec.classes}) : -1;
    plan.side = spec.side;
    plan.final_side = side;
    plan.features = in;
    plan.classes = spec.classes;
    plan.parameter_count = layout.parameter_count;
  }

  ParameterLayout layout;
  NetworkPlan plan;

 private:
  static std::int64_t append(std::vector<View>& views, std::int64_t& total, std::string name,
                             std::vector<int> shape) {
    std::int64_t size = 1;
    for (const int extent : shape) size *= extent;
    views.push_back({std::move(name), std::move(shape), total, size});
    total += size;
    return views.back().offset;
  }
  std::int64_t parameter(std::string name, std::vector<int> shape) {
    return append(layout.parameters, layout.parameter_count, std::move(name), std::move(shape));
  }
  std::int64_t buffer(std::string name, std::vector<int> shape) {
    return append(layout.buffers, layout.buffer_count, std::move(name), std::move(shape));
  }

  ConvUnit unit(const std::string& conv, const std::string& norm, int in, int out, int kernel, int stride,
                int side) {
    ConvUnit u{.index = plan.units++, .in = in, .out = out, .kernel = kernel, .stride = stride, .side = side};
    u.weight = parameter(conv + ".weight", {out, in, kernel, kernel});
    u.gamma = parameter(norm + ".weight", {out});
    u.beta = parameter(norm + ".bias", {out});
    u.mean = buffer(norm + ".running_mean", {out});
    u.variance = buffer(norm + ".running_var", {out});
    return u;
  }

  BlockPlan block(const ResNetSpec& spec, const std::string& prefix, int in, int out, int stride, int side) {
    BlockPlan b;
    b.first = unit(prefix + "conv1", prefix + "bn1", in, out, 3, stride, side);
    b.second = unit(prefix + "conv2", prefix + "bn2", out, out, 3, 1, side / stride);
    if (in != out && spec.shortcut == Shortcut::kProjection) {
      b.skip = Skip::kProjection;
      b.projection = unit(prefix + "shortcut.0", prefix + "shortcut.1", in, out, 1, stride, side);
    } else if (in != out) {
      b.skip = Skip::kPad;
    }
    return b;
  }
};

}  // namespace

ResNetSpec make_spec(std::string_view model, std::string_view shortcut, int classes, int channels, int width,
                     int side, std::string_view head) {
  ResNetSpec spec;
  if (std::find(kModels.begin(), kModels.end(), model) == kModels.end()) {
    base::fail<base::UsageError>("unknown model `{}`{}; there are {}", model,
                                 base::did_you_mean(model, kModels), base::join(kModels, ", "));
  }
  spec.depth = static_cast<int>(*base::parse_integer(model.substr(6)));
  if (shortcut == "pad") {
    spec.shortcut = Shortcut::kPad;
  } else if (shortcut != "projection") {
    base::fail<base::UsageError>("unknown shortcut `{}`{}; there are {}", shortcut,
                                 base::did_you_mean(shortcut, kShortcuts), base::join(kShortcuts, ", "));
  }
  if (head == "cosine") {
    spec.head = Head::kCosine;
  } else if (head != "linear") {
    base::fail<base::UsageError>("unknown head `{}`{}; there are {}", head, base::did_you_mean(head, kHeads),
                                 base::join(kHeads, ", "));
  }
  if (classes < 1) base::fail<base::UsageError>("a network of {} classes; at least 1 is needed", classes);
  if (channels != 1 && channels != 3)
    base::fail<base::UsageError>("images of {} channels; a network takes 1 or 3", channels);
  if (width != 1 && width != 2 && width != 4)
    base::fail<base::UsageError>("a network of width {}; it is 1, 2 or 4", width);
  if (side < 16 || side > 128 || side % 8 != 0) {
    base::fail<base::UsageError>(
        "images of {} by {} pixels; a network takes a side that is a multiple of 8 from 16 to 128", side,
        side);
  }
  spec.classes = classes;
  spec.channels = channels;
  spec.width = width;
  spec.side = side;
  return spec;
}

const View& ParameterLayout::parameter(std::string_view name) const { return find(parameters, name); }
const View& ParameterLayout::buffer(std::string_view name) const { return find(buffers, name); }

ParameterLayout parameter_layout(const ResNetSpec& spec) { return Walk(spec).layout; }
NetworkPlan network_plan(const ResNetSpec& spec) { return Walk(spec).plan; }

}  // namespace longtail::nn
