# How a module is built: every *.cc of its folder into one object library, every *_test.cc into one test program.

# Vector code of x86 is left out elsewhere.
string(REGEX MATCH "^(x86_64|AMD64|amd64)$" LONGTAIL_X86 "${CMAKE_SYSTEM_PROCESSOR}")

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
if(LONGTAIL_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

# What a program that links a module sees: where the headers are, and C++20.
add_library(longtail_headers INTERFACE)
target_include_directories(longtail_headers INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_compile_features(longtail_headers INTERFACE cxx_std_20)

# How our own sources are compiled; never passed on.
add_library(longtail_flags INTERFACE)
target_compile_options(longtail_flags INTERFACE -Wall -Wextra $<$<BOOL:${LONGTAIL_WERROR}>:-Werror>)
# GCC 12 warns of overlaps inside std::string that cannot happen (its bug 105651).
target_compile_options(longtail_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# The same source must give the same bits with every compiler: no fused multiply-add that the source does not ask for.
target_compile_options(longtail_flags INTERFACE -ffp-contract=off)
if(LONGTAIL_SANITIZE)
  target_compile_options(longtail_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # with them, GCC 12 warns of its own std::regex
  target_compile_definitions(longtail_flags INTERFACE LONGTAIL_SANITIZED)
  target_link_options(longtail_flags INTERFACE -fsanitize=address,undefined)
endif()
if(LONGTAIL_FUZZ)
  target_compile_options(longtail_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Code that does no arithmetic worth the name (commands, tables, tests) is compiled with -O1: half the time, and the same bits.
add_library(longtail_light INTERFACE)
target_compile_options(longtail_light INTERFACE $<$<CONFIG:Release>:-O1>)

# Headers that most files include are parsed once: these for the modules, with GoogleTest's for the tests. What is compiled with
# -O1 needs its own: newer versions of GCC take none of another level.
set(common_headers <algorithm> <filesystem> <functional> <map> <memory> <optional> <span> <string> <vector>
  <fmt/format.h> <nlohmann/json.hpp>)
function(longtail_precompiled name level)
  add_library(${name} OBJECT cmake/precompiled.cc)
  target_link_libraries(${name} PRIVATE longtail_flags ${level} longtail_headers fmt::fmt Threads::Threads nlohmann_json::nlohmann_json)
  # GCC and ccache understand each other only so; Clang's time stamp would make every copy another one.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
if(LONGTAIL_PARTS STREQUAL all)
  find_package(nlohmann_json REQUIRED)
  longtail_precompiled(longtail_headers_once "" ${common_headers})
  longtail_precompiled(longtail_light_headers_once longtail_light ${common_headers})
endif()
if(LONGTAIL_PARTS STREQUAL all AND LONGTAIL_TESTS)
  longtail_precompiled(longtail_test_headers_once longtail_light ${common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  target_link_libraries(longtail_test_headers_once PRIVATE GTest::gtest GTest::gmock)
endif()

# longtail_tests(TARGET NAME TIMEOUT [library...]): how a test program is compiled and found.
function(longtail_tests target name timeout)
  target_link_libraries(${target} PRIVATE longtail_flags longtail_light longtail_test_paths GTest::gtest GTest::gmock GTest::gtest_main ${ARGN})
  if(TARGET longtail_test_headers_once)
    target_precompile_headers(${target} REUSE_FROM longtail_test_headers_once)
  endif()
  longtail_unity(${target})
  gtest_discover_tests(${target} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${timeout})
endfunction()

if(LONGTAIL_TESTS)
  configure_file(cmake/test_paths.cc.in test_paths.cc @ONLY)
  add_library(longtail_test_paths STATIC ${PROJECT_BINARY_DIR}/test_paths.cc)
  target_link_libraries(longtail_test_paths PUBLIC longtail_headers)
endif()

# longtail_unity(TARGET): its files several at a time, where that is wanted. A file with flags of its own stays by itself.
function(longtail_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LONGTAIL_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# longtail_optimised(file...): files of a LIGHT module that do work in loops after all.
function(longtail_optimised)
  foreach(file ${ARGN})
    set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
    set_property(SOURCE ${file} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# longtail_module(NAME [DEPENDS module...] [LIBS target...] [WITHOUT file...] [PIC] [LIGHT] [PRECOMPILED] [NO_TESTS]): objects in
# longtail_NAME, tests in test_NAME. PIC: position-independent, so that a shared library of yours may hold it. LIGHT: compiled
# with -O1. PRECOMPILED: with the common headers; not for files with instruction-set flags of their own, nor with PIC.
function(longtail_module name)
  cmake_parse_arguments(ARG "PIC;LIGHT;PRECOMPILED;NO_TESTS" "" "DEPENDS;LIBS;WITHOUT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  foreach(file ${ARG_WITHOUT})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_library(longtail_${name} STATIC ${sources})
  add_library(longtail::${name} ALIAS longtail_${name})
  set_target_properties(longtail_${name} PROPERTIES EXPORT_NAME ${name})
  longtail_unity(longtail_${name})
  if(ARG_PIC)
    set_target_properties(longtail_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_link_libraries(longtail_${name} PRIVATE $<BUILD_INTERFACE:longtail_flags>
    PUBLIC longtail_headers fmt::fmt Threads::Threads ${ARG_LIBS})
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(longtail_${name} PUBLIC longtail_${dependency})
  endforeach()
  if(ARG_LIGHT)
    target_link_libraries(longtail_${name} PRIVATE $<BUILD_INTERFACE:longtail_light>)
  endif()
  if(ARG_PRECOMPILED AND ARG_LIGHT)
    target_precompile_headers(longtail_${name} REUSE_FROM longtail_light_headers_once)
  elseif(ARG_PRECOMPILED)
    target_precompile_headers(longtail_${name} REUSE_FROM longtail_headers_once)
  endif()
  if(LONGTAIL_TESTS AND tests AND NOT ARG_NO_TESTS)
    add_executable(test_${name} ${tests})
    longtail_tests(test_${name} ${name} 600 longtail_${name})
  endif()
endfunction()

# longtail_filtered_test(NAME TARGET PATTERN... [ENVIRONMENT VARIABLE=VALUE]): tests of a program once more, in another
# environment. One entry per pattern; a pattern that selects nothing fails.
function(longtail_filtered_test name target)
  cmake_parse_arguments(ARG "" "ENVIRONMENT" "" ${ARGN})
  set(number 0)
  foreach(pattern ${ARG_UNPARSED_ARGUMENTS})
    math(EXPR number "${number} + 1")
    add_test(NAME ${name}.${number} COMMAND ${target} --gtest_filter=${pattern})
    set_tests_properties(${name}.${number} PROPERTIES TIMEOUT 600 ENVIRONMENT "${ARG_ENVIRONMENT}"
      FAIL_REGULAR_EXPRESSION "Running 0 tests" SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endforeach()
endfunction()

# longtail_fuzzer(NAME SOURCE MODULE): a libFuzzer program.
function(longtail_fuzzer name source module)
  if(LONGTAIL_FUZZ)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE longtail_flags longtail_${module})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()
