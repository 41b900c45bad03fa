# How a module is built: every *.cc of its folder into one object library, every *_test.cc into one test program.

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
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(longtail_flags INTERFACE -fsanitize=address,undefined)
endif()
if(LONGTAIL_FUZZ)
  target_compile_options(longtail_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(LONGTAIL_TESTS)
  configure_file(cmake/test_paths.cc.in test_paths.cc @ONLY)
  add_library(longtail_test_paths STATIC ${PROJECT_BINARY_DIR}/test_paths.cc)
  target_link_libraries(longtail_test_paths PUBLIC longtail_headers)
endif()

# longtail_module(NAME [DEPENDS module...] [LIBS target...] [WITHOUT file...] [PIC] [NO_TESTS]): objects in longtail_NAME,
# tests in test_NAME. PIC: position-independent, so that a shared library of yours may hold it.
function(longtail_module name)
  cmake_parse_arguments(ARG "PIC;NO_TESTS" "" "DEPENDS;LIBS;WITHOUT" ${ARGN})
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
  if(ARG_PIC)
    set_target_properties(longtail_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_link_libraries(longtail_${name} PRIVATE $<BUILD_INTERFACE:longtail_flags>
    PUBLIC longtail_headers fmt::fmt Threads::Threads ${ARG_LIBS})
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(longtail_${name} PUBLIC longtail_${dependency})
  endforeach()
  if(LONGTAIL_TESTS AND tests AND NOT ARG_NO_TESTS)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE longtail_flags longtail_${name} longtail_test_paths GTest::gtest GTest::gmock GTest::gtest_main)
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
  endif()
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
