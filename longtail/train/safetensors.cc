#include "longtail/train/safetensors.h"

#include <nlohmann/json.hpp>
#include <span>

namespace longtail::train {
namespace {

using nlohmann::json;

constexpr std::string_view kVariance = "running_var";

// Appends tensors one after the other; the header says where each is.
class Tensors {
 public:
  void add(const std::string& name, const char* type, const std::vector<int>& shape, const void* values,
           std::size_t bytes) {
    header_[name] = {
        {"dtype", type}, {"shape", shape}, {"data_offsets", {data_.size(), data_.size() + bytes}}};
    data_.append(static_cast<const char*>(values), bytes);
  }
  void metadata(const std::map<std::string, std::string>& texts) { header_["__metadata__"] = texts; }

  std::string file() const {
    // Texts of a run are checked for UTF-8 when read; a wrong byte would still be no reason to fail.
    std::string header = header_.dump(-1, ' ', false, json::error_handler_t::replace);
    header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the tensors are aligned
    const auto size = static_cast<std::uint64_t>(header.size());
    return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header + data_;
  }

 private:
  json header_ = json::object();
  std::string data_;
};

void add_views(Tensors& tensors, const std::vector<nn::View>& views, std::span<const float> values) {
  for (const nn::View& view : views) {
    tensors.add(view.name, "F32", view.shape, values.data() + view.offset,
                static_cast<std::size_t>(view.size) * sizeof(float));
  }
}

}  // namespace

std::string safetensors(const nn::ResNetSpec& spec, const NetworkState& network, std::int64_t steps,
                        const std::map<std::string, std::string>& metadata) {
  const nn::ParameterLayout layout = nn::parameter_layout(spec);
  Tensors tensors;
  tensors.metadata(metadata);
  // The 64-bit counters first: everything is then aligned to its own size.
  for (const nn::View& view : layout.buffers) {
    if (!view.name.ends_with(kVariance)) continue;
    const std::string module = view.name.substr(0, view.name.size() - kVariance.size());
    tensors.add(module + "num_batches_tracked", "I64", {}, &steps, sizeof steps);
  }
  add_views(tensors, layout.parameters, network.parameters);
  add_views(tensors, layout.buffers, network.buffers);
  return tensors.file();
}

}  // namespace longtail::train
