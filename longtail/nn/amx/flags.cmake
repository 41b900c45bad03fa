# The kernels of the amx engine alone are compiled for AVX-512 and AMX; the program asks the CPU before it calls them.
# A compiler or CPU family without AMX leaves the engine out, as does LONGTAIL_AMX_ENGINES=OFF.
include(CheckCXXSourceCompiles)
set(amx_kernels conv conv_image conv_parts weight_gradient batch_norm layout head peak)
file(GLOB amx_tests ${CMAKE_CURRENT_LIST_DIR}/*_test.cc)
set(amx_engine network geometry scratch tile_backend forward backward predict)
list(TRANSFORM amx_kernels REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/\\1.cc")
list(TRANSFORM amx_engine REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/\\1.cc")

set(amx_flags -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512bf16 -mamx-tile -mamx-bf16)
list(JOIN amx_flags " " CMAKE_REQUIRED_FLAGS)
check_cxx_source_compiles("
  #include <immintrin.h>
  int main() { _tile_dpbf16ps(0, 1, 2); return _mm512_cvtneps_pbh(_mm512_setzero_ps())[0] != 0; }
  " LONGTAIL_COMPILER_HAS_AMX)
unset(CMAKE_REQUIRED_FLAGS)

if(LONGTAIL_AMX_ENGINES AND LONGTAIL_COMPILER_HAS_AMX)
  # GCC 12 takes its own intrinsics for uses of uninitialised variables (its bug 105593).
  set(amx_quiet $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  set_property(SOURCE ${amx_kernels} APPEND PROPERTY COMPILE_OPTIONS ${amx_flags} ${amx_quiet})
  set_property(SOURCE ${amx_kernels} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  # The unrolled loops hold thousands of loads and stores. With a check before each GCC 12 takes minutes for a file, so the
  # address sanitiser calls a function instead, and of the others three kinds that would only say the same are left out.
  if(LONGTAIL_SANITIZE)
    set(amx_unrolled conv_image conv_parts)
    list(TRANSFORM amx_unrolled REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/\\1.cc")
    set_property(SOURCE ${amx_unrolled} APPEND PROPERTY COMPILE_OPTIONS
      -fno-sanitize=null,object-size,pointer-overflow
      $<$<CXX_COMPILER_ID:GNU>:--param=asan-instrumentation-with-call-threshold=0>)
  endif()
  target_compile_definitions(longtail_nn PRIVATE LONGTAIL_AMX $<$<BOOL:${LONGTAIL_SOFTWARE_TILES}>:LONGTAIL_SOFTWARE_TILES>)
else()
  set_property(SOURCE ${amx_kernels} ${amx_engine} ${amx_tests} PROPERTY HEADER_FILE_ONLY ON)
endif()
