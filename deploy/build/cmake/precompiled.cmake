# SPDX-License-Identifier: Apache-2.0
# Headers that many sources read, compiled once for all of them.

if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # As GCC has it, where ccache finds the paths that it may write relative to the checkout; CMake's own way hides them.
  # A header of the same size is the same one: a fresh checkout's are all younger than what ccache knows.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Winvalid-pch -include <PCH_HEADER>)
  set(CMAKE_CXX_COMPILE_OPTIONS_CREATE_PCH -Winvalid-pch -Xclang -fno-pch-timestamp -x c++-header -include <PCH_HEADER>)
endif()

# reel_precompiled_header(test tests/test_header.h LIBRARIES GTest::gmock OPTIONS -O0)
# offers a header to reel_use_header(target test). LIBRARIES is what it takes to compile it; OPTIONS go to those that
# use it, too, since a header serves only what is compiled in the same way.
function(reel_precompiled_header name header)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;OPTIONS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(reel_${name}_header OBJECT ${source})
  target_link_libraries(reel_${name}_header PRIVATE ${ARG_LIBRARIES})
  target_compile_options(reel_${name}_header PUBLIC ${ARG_OPTIONS})
  target_precompile_headers(reel_${name}_header PRIVATE ${CMAKE_SOURCE_DIR}/${header})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(reel_${name}_header PROPERTIES
      CXX_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/deploy/build/compile_header;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()

# Every source of the target then reads the header first, unasked. One for a target.
function(reel_use_header target name)
  target_precompile_headers(${target} REUSE_FROM reel_${name}_header)
  # Programs are compiled with -fPIE by default, which the header is not; ccache asks for the other.
  target_compile_options(${target} PRIVATE -fPIC -fpch-preprocess
    $<TARGET_PROPERTY:reel_${name}_header,INTERFACE_COMPILE_OPTIONS>)
endfunction()
