# The Python package is tested as its users get it: `pip install .` into BUILD/python-site, then one test a file of
# python/tests. What cannot be tested here (no pybind11, no PyTorch) is skipped with the reason.
add_test(NAME python.install COMMAND ${PROJECT_SOURCE_DIR}/tests/python_install ${PROJECT_BINARY_DIR}/python-site)
set_tests_properties(python.install PROPERTIES FIXTURES_SETUP python_package TIMEOUT 1800 SKIP_RETURN_CODE 77)
file(GLOB python_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tests/test_*.py)
foreach(file ${python_tests})
  string(REGEX REPLACE ".*/test_(.*)\\.py" "\\1" name ${file})
  add_test(NAME python.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/python ${PROJECT_BINARY_DIR} ${file})
  set_tests_properties(python.${name} PROPERTIES FIXTURES_REQUIRED python_package TIMEOUT 1800 SKIP_RETURN_CODE 77)
endforeach()
