# `cmake --install build --prefix PREFIX`: the program, the libraries with their headers, and a package for find_package. It takes a
# whole build (`cmake --build build`); ./study builds the program alone.
# Inside another project (add_subdirectory) it is libraries, headers and package alone: program, manual, studies and documents would lie among
# those of that project. The Python module alone installs itself (setup.py).
if(LONGTAIL_PARTS STREQUAL python)
  return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(exported longtail longtail_headers)
set(LONGTAIL_PACKAGES Threads fmt)
if(LONGTAIL_PARTS STREQUAL all)
  list(APPEND exported hwy_found)
  list(APPEND LONGTAIL_PACKAGES OpenSSL ZLIB LibArchive CURL PNG JPEG GIF PkgConfig nlohmann_json tomlplusplus)
endif()
if(LONGTAIL_PARTS STREQUAL all AND PROJECT_IS_TOP_LEVEL)
  install(TARGETS longtail_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # As in a checkout, so that the links of README.md lead somewhere.
  install(FILES README.md CONTRIBUTING.md CHANGELOG.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)
  # studies/pytorch.toml names its script from the folder above the studies.
  install(DIRECTORY studies DESTINATION ${CMAKE_INSTALL_DATADIR}/longtail)
  install(FILES examples/pytorch/train.py DESTINATION ${CMAKE_INSTALL_DATADIR}/longtail/examples/pytorch)
  # The program writes its own manual; one for another kind of CPU cannot be asked here.
  if(NOT CMAKE_CROSSCOMPILING)
    set(manual ${PROJECT_BINARY_DIR}/manual)
    add_custom_command(OUTPUT ${manual}/longtail.1 ${manual}/longtail ${manual}/longtail.fish
      COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
      COMMAND longtail_program help --man > ${manual}/longtail.1
      COMMAND longtail_program help --completion bash > ${manual}/longtail
      COMMAND longtail_program help --completion fish > ${manual}/longtail.fish
      DEPENDS longtail_program)
    add_custom_target(longtail_manual ALL DEPENDS ${manual}/longtail.1)
    install(FILES ${manual}/longtail.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${manual}/longtail DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${manual}/longtail.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
foreach(module ${LONGTAIL_MODULES})
  list(APPEND exported longtail_${module})
  install(DIRECTORY longtail/${module}/ DESTINATION include/longtail/${module} FILES_MATCHING PATTERN "*.h"
    PATTERN testdata EXCLUDE PATTERN page EXCLUDE PATTERN "*testing*.h" EXCLUDE PATTERN test_logs.h EXCLUDE)
endforeach()
set_target_properties(longtail_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS ${exported} EXPORT longtail ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES longtail/version.h DESTINATION include/longtail)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/longtail)
install(EXPORT longtail NAMESPACE longtail:: FILE longtail-targets.cmake DESTINATION ${package_dir})
configure_file(cmake/longtail-config.cmake.in longtail-config.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/longtail-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/longtail-config.cmake ${PROJECT_BINARY_DIR}/longtail-config-version.cmake
  DESTINATION ${package_dir})
