// What the files of the Python module share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace longtail::python {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// None where a number is unknown.
inline py::object number_of(double value) {
  return std::isnan(value) ? py::object(py::none()) : py::float_(value);
}

void add_sampling(py::module_& module);
void add_logs(py::module_& module);
void add_networks(py::module_& module);

}  // namespace longtail::python
