# find_package(longtail): the targets longtail::sampling (and base, data, nn, train, theory, study, report) and longtail::longtail, all of them.
include(CMakeFindDependencyMacro)
foreach(package Threads fmt OpenSSL ZLIB LibArchive CURL PNG JPEG nlohmann_json tomlplusplus)
  find_dependency(${package})
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/longtail-targets.cmake)
