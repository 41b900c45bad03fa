# `cmake --install build --prefix PREFIX`: the program, the libraries with their headers, and a package for find_package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(exported longtail longtail_headers dnnl_found)
foreach(module ${LONGTAIL_MODULES})
  list(APPEND exported longtail_${module})
endforeach()
set_target_properties(longtail_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS longtail_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${exported} EXPORT longtail ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY longtail/ DESTINATION include/longtail FILES_MATCHING PATTERN "*.h"
  PATTERN cli EXCLUDE PATTERN testdata EXCLUDE PATTERN page EXCLUDE
  PATTERN "*testing*.h" EXCLUDE PATTERN test_logs.h EXCLUDE)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/longtail)
install(EXPORT longtail NAMESPACE longtail:: FILE longtail-targets.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/longtail-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/longtail-config.cmake ${PROJECT_BINARY_DIR}/longtail-config-version.cmake DESTINATION ${package_dir})
