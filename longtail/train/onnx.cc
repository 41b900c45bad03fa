#include "longtail/train/onnx.h"

#include "longtail/base/error.h"

#ifdef LONGTAIL_ONNX
#include <onnx/onnx_pb.h>

#include <limits>
#include <span>
#include <vector>

namespace longtail::train {
namespace {

constexpr int kIrVersion = 7;  // ONNX 1.8: read by every runtime since 2020
constexpr int kOpset = 13;
constexpr float kEpsilon = 1e-5F;  // of batch norm

// Appends nodes. Each has one output, and both have the same name.
class Graph {
 public:
  Graph(onnx::GraphProto& graph, const nn::ParameterLayout& layout, const NetworkState& network)
      : graph_(graph) {
    add_views(layout.parameters, network.parameters);
    add_views(layout.buffers, network.buffers);
  }

  onnx::NodeProto& node(const std::string& type, const std::string& output,
                        const std::vector<std::string>& inputs) {
    onnx::NodeProto& made = *graph_.add_node();
    made.set_op_type(type);
    made.set_name(output);
    for (const std::string& input : inputs) made.add_input(input);
    made.add_output(output);
    return made;
  }

  // The convolution and the batch norm after it; `prefixes` are the names of the two modules.
  std::string unit(const nn::ConvUnit& unit, const std::string& conv, const std::string& norm,
                   const std::string& input) {
    onnx::NodeProto& convolution = node("Conv", conv, {input, conv + ".weight"});
    const int pad = unit.kernel / 2;
    integers(convolution, "kernel_shape", {unit.kernel, unit.kernel});
    integers(convolution, "pads", {pad, pad, pad, pad});
    integers(convolution, "strides", {unit.stride, unit.stride});
    onnx::NodeProto& norms =
        node("BatchNormalization", norm,
             {conv, norm + ".weight", norm + ".bias", norm + ".running_mean", norm + ".running_var"});
    onnx::AttributeProto& epsilon = attribute(norms, "epsilon", onnx::AttributeProto::FLOAT);
    epsilon.set_f(kEpsilon);
    return norm;
  }

  // Every second pixel, zeros for the new channels on both sides.
  std::string pad(const nn::ConvUnit& first, const std::string& name, const std::string& input) {
    const std::int64_t end = std::numeric_limits<std::int64_t>::max();
    const std::string half = name + ".half";
    node("Slice", half,
         {input, constant(name + ".starts", {0, 0}), constant(name + ".ends", {end, end}),
          constant(name + ".axes", {2, 3}), constant(name + ".steps", {first.stride, first.stride})});
    const std::int64_t extra = first.out - first.in;
    node("Pad", name, {half, constant(name + ".pads", {0, extra / 2, 0, 0, 0, extra - extra / 2, 0, 0})});
    return name;
  }

  std::string block(const nn::BlockPlan& plan, const std::string& prefix, const std::string& input) {
    node("Relu", prefix + "relu1", {unit(plan.first, prefix + "conv1", prefix + "bn1", input)});
    const std::string second = unit(plan.second, prefix + "conv2", prefix + "bn2", prefix + "relu1");
    std::string skip = input;
    if (plan.skip == nn::Skip::kProjection)
      skip = unit(plan.projection, prefix + "shortcut.0", prefix + "shortcut.1", input);
    if (plan.skip == nn::Skip::kPad) skip = pad(plan.first, prefix + "shortcut", input);
    node("Add", prefix + "sum", {second, skip});
    node("Relu", prefix + "out", {prefix + "sum"});
    return prefix + "out";
  }

  static void integers(onnx::NodeProto& node, const char* name, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto& made = attribute(node, name, onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) made.add_ints(value);
  }
  static void integer(onnx::NodeProto& node, const char* name, std::int64_t value) {
    attribute(node, name, onnx::AttributeProto::INT).set_i(value);
  }

 private:
  static onnx::AttributeProto& attribute(onnx::NodeProto& node, const char* name,
                                         onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& made = *node.add_attribute();
    made.set_name(name);
    made.set_type(type);
    return made;
  }
  std::string constant(const std::string& name, const std::vector<std::int64_t>& values) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return name;
  }
  void add_views(const std::vector<nn::View>& views, std::span<const float> values) {
    for (const nn::View& view : views) {
      onnx::TensorProto& tensor = *graph_.add_initializer();
      tensor.set_name(view.name);
      tensor.set_data_type(onnx::TensorProto::FLOAT);
      for (const int size : view.shape) tensor.add_dims(size);
      tensor.set_raw_data(values.data() + view.offset, static_cast<std::size_t>(view.size) * sizeof(float));
    }
  }

  onnx::GraphProto& graph_;
};

void describe(onnx::ValueInfoProto& value, const std::string& name, const std::vector<int>& shape) {
  value.set_name(name);
  auto& tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_param("N");
  for (const int size : shape) tensor.mutable_shape()->add_dim()->set_dim_value(size);
}

}  // namespace

bool has_onnx() { return true; }

std::string onnx_model(const nn::ResNetSpec& spec, const NetworkState& network,
                       const std::map<std::string, std::string>& metadata) {
  if (spec.head != nn::Head::kLinear) {
    base::fail("a network with a cosine head cannot be written as ONNX; use --format safetensors");
  }
  const nn::NetworkPlan plan = nn::network_plan(spec);
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("longtail");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(kOpset);
  for (const auto& [key, value] : metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name("resnet");
  describe(*proto.add_input(), "images", {spec.channels, spec.side, spec.side});
  describe(*proto.add_output(), "logits", {spec.classes});
  Graph graph(proto, nn::parameter_layout(spec), network);
  graph.node("Relu", "relu", {graph.unit(plan.stem, "conv1", "bn1", "images")});
  std::string x = "relu";
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const auto per_stage = static_cast<std::size_t>(spec.blocks_per_stage());
    x = graph.block(plan.blocks[i], fmt::format("layer{}.{}.", i / per_stage + 1, i % per_stage), x);
  }
  graph.node("GlobalAveragePool", "pool", {x});
  Graph::integer(graph.node("Flatten", "features", {"pool"}), "axis", 1);
  Graph::integer(graph.node("Gemm", "logits", {"features", "linear.weight", "linear.bias"}), "transB", 1);
  return model.SerializeAsString();
}

}  // namespace longtail::train

#else

namespace longtail::train {

bool has_onnx() { return false; }

std::string onnx_model(const nn::ResNetSpec&, const NetworkState&,
                       const std::map<std::string, std::string>&) {
  base::fail(
      "this longtail was built without ONNX; install libonnx-dev (scripts/setup does) and build again");
}

}  // namespace longtail::train

#endif
