// The networks of the paper for Python: their initial weights.
#include <string>

#include "longtail/base/error.h"
#include "longtail/nn/init.h"
#include "python/bindings.h"

namespace longtail::python {
namespace {

py::array_t<float> initial_weights(const std::string& model, int classes, std::int64_t seed,
                                   const std::string& shortcut, int channels, int width) {
  return array_of(nn::initial_parameters(nn::make_spec(model, shortcut, classes, channels, width), seed));
}

}  // namespace

void add_networks(py::module_& module) {
  module.def("initial_weights", &initial_weights, py::arg("model"), py::arg("classes"), py::arg("seed"),
             py::arg("shortcut") = "projection", py::arg("channels") = 3, py::arg("width") = 1);
}

}  // namespace longtail::python
