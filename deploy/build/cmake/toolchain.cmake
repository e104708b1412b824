# SPDX-License-Identifier: Apache-2.0
# How everything of ours is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Some libraries ask for it and some do not; a precompiled header serves only those that say the same.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-pthread>)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # The base folder and the hashed folder make a hit in one checkout serve another; without the two liberties
  # nothing that uses a precompiled header is kept.
  set(settings CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} ${CCACHE_PROGRAM})
  # Each checkout has an nvcc of its own, the same bytes at another time.
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} CCACHE_COMPILERCHECK=content ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# A debug build for sanitizers wants line numbers and speed, not a full picture of every type. With AddressSanitizer at -O1
# clang spends more than half of its time in the optimiser and on inlined code. So dev says OFF, and only loops over rows and
# pixels are optimised there (library_headers.cmake).
option(REEL_DEBUG_OPTIMIZED "Compile Debug with -O1" ON)
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")
if(NOT REEL_DEBUG_OPTIMIZED)
  string(REPLACE "-O1" "-O0" CMAKE_CXX_FLAGS_DEBUG "${CMAKE_CXX_FLAGS_DEBUG}")
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
# quickstart: no debug information, and -O1 where no pixel or row is computed, which compiles a quarter faster. What only calls
# libtorch is of this kind, protoc's code is not optimised at all (protobuf.cmake). assert() stays, as in release. What computes
# says -O3 with its precompiled header (library_headers.cmake).
set(CMAKE_CXX_FLAGS_RELEASE "-O1")
# GCC then collects garbage only from half a gigabyte on: a tenth of its time.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=200;--param=ggc-min-heapsize=524288>")
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O2 -DNDEBUG -Xcompiler=-g1")  # of the host's half; nvcc knows no levels
if(REEL_SANITIZE)
  add_compile_options(-fsanitize=${REEL_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${REEL_SANITIZE})
  if(REEL_SANITIZE STREQUAL thread)
    # protobuf's map fields have one member more where this is defined, which Debian's library does not
    # know of: every map would be read at the wrong place. The standard library still gets to know.
    add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1)
  endif()
endif()

# For our targets only: third-party headers are SYSTEM. Warnings are errors in the presets for development. The others look
# for none: that saves a twentieth of the compile time, and another compiler's warnings cannot stop a user.
option(REEL_WARNINGS_AS_ERRORS "Look for warnings, each of which stops the build" OFF)
add_library(reel_warnings INTERFACE)
target_compile_options(reel_warnings INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${REEL_WARNINGS_AS_ERRORS}>>:-Wall;-Wextra;-Wconversion;-Wshadow;-Wnon-virtual-dtor;-Werror>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)  # GCC's -Wconversion does not mean it for C++
target_include_directories(reel_warnings INTERFACE ${CMAKE_SOURCE_DIR})
