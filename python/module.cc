// The extension module longtail._core. Errors of the library become ValueError here, or OSError if something
// could not be read or written (StorageError).
#include "python/bindings.h"

#include "longtail/base/error.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ part of the package longtail.";
  module.attr("__version__") = LONGTAIL_VERSION;
  pybind11::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const longtail::base::StorageError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    } catch (const longtail::base::Error& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
  longtail::python::add_sampling(module);
  longtail::python::add_logs(module);
  longtail::python::add_networks(module);
}
