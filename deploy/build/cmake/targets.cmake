# SPDX-License-Identifier: Apache-2.0
# The three ways to make a target. Each is PRIVATE by default: an edge that leaks is a wall that fell.

# Builds that nobody edits in (quickstart, sanitizers) compile many sources of a target as one: the compiler reads and
# instantiates their headers once. Sources whose names collide are listed with reel_compile_apart().
option(REEL_TOGETHER "Compile the sources of a library in groups" OFF)
function(reel_compile_together target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size}
    UNITY_BUILD_RELOCATABLE ON)  # for ccache: without this folder in the text
  # GCC takes an included source for a header that other objects read as well.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# tests/run turns it on for release, where nobody edits.
option(REEL_TESTS_TOGETHER "Compile the sources of a test as one" OFF)

# tests/run gives it to dev: programs that look at servers from outside are the same whoever has compiled the servers, and a
# sanitizer's take five minutes more. For folders that set REEL_TESTS_FROM to it.
set(REEL_INTEGRATION_PROGRAMS "" CACHE PATH "Folder of another build's integration tests, to be run with this build's programs")

# reel_compile_apart(a.cc b.cc), of the folder's own.
function(reel_compile_apart)
  set_source_files_properties(${ARGV} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# reel_library(model_api SOURCES a.cc PUBLIC absl::status PRIVATE reel::kernels_base)
# makes the static library reel_model_api with the alias reel::model_api; without SOURCES it is a header library.
# HEADER is the precompiled one: `library` unless said otherwise (library_headers.cmake, torch.cmake), or `none`.
function(reel_library name)
  cmake_parse_arguments(ARG "" "HEADER" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_SOURCES)
    add_library(reel_${name} STATIC ${ARG_SOURCES})
    if(NOT ARG_HEADER)
      set(ARG_HEADER library)
    endif()
    if(NOT ARG_HEADER STREQUAL "none")
      reel_use_header(reel_${name} ${ARG_HEADER})
    endif()
    if(REEL_TOGETHER)
      reel_compile_together(reel_${name} 64)
    elseif(REEL_SANITIZE)  # larger groups would keep a core waiting for the last one
      reel_compile_together(reel_${name} 16)
    endif()
    target_link_libraries(reel_${name} PRIVATE reel_warnings PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    target_include_directories(reel_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  else()
    add_library(reel_${name} INTERFACE)
    target_link_libraries(reel_${name} INTERFACE ${ARG_PUBLIC})
    target_include_directories(reel_${name} INTERFACE ${CMAKE_SOURCE_DIR})
  endif()
  add_library(reel::${name} ALIAS reel_${name})
endfunction()

# reel_binary(reel-worker SOURCES main.cc PRIVATE reel::worker_app)
function(reel_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE reel_warnings ${ARG_PRIVATE})
endfunction()

# What the preset tsan builds: the tests of threaded code, and the binaries that they run.
add_custom_target(reel_tsan_tests)

# What the preset check builds: unit tests and those labelled "first", without those labelled "later".
add_custom_target(reel_first_tests)
function(reel_first_test name labels)
  if(("unit" IN_LIST labels OR "first" IN_LIST labels) AND NOT "later" IN_LIST labels)
    add_dependencies(reel_first_tests ${name})
  endif()
endfunction()

# Unit tests of folders that set REEL_TESTED_IN_DEV: tests/run builds and runs them under sanitizers only, where a
# developer's release builds them as well. What a library's optimised code computes is not of this kind.
add_custom_target(reel_repeated_tests)
function(reel_repeated_test name)
  if(NOT REEL_SANITIZE)
    set_property(TEST ${name} APPEND PROPERTY LABELS repeated)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    add_dependencies(reel_repeated_tests ${name})
  endif()
endfunction()

# reel_served_in_dev(door_test order_test): tests/run has these look at dev's servers alone, which sanitizers watch. Not for
# tests that measure time or memory, or want libtorch.
function(reel_served_in_dev)
  if(NOT REEL_SANITIZE)
    set_property(TEST ${ARGV} APPEND PROPERTY LABELS repeated)
  endif()
endfunction()

# reel_test(resolve_test SOURCES resolve_test.cc PRIVATE reel::model_api LABELS unit [TIMEOUT 60] [BINARIES reeld]
#           [HEADER call_test] [TORCH])
# is a GoogleTest program and one ctest entry; BINARIES are built first, and are found beside the build's bin folder.
# HEADER is the precompiled one: `test` unless said otherwise (test_headers.cmake, torch.cmake). TORCH: it needs libtorch.
function(reel_test name)
  cmake_parse_arguments(ARG "TORCH" "TIMEOUT;HEADER" "SOURCES;PRIVATE;LABELS;BINARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(REEL_SANITIZE OR REEL_TESTS_TOGETHER)
    reel_compile_together(${name} 16)
  endif()
  target_link_libraries(${name} PRIVATE reel_warnings ${ARG_PRIVATE} GTest::gmock GTest::gtest_main)
  if(NOT ARG_HEADER)
    set(ARG_HEADER test)
  endif()
  reel_use_header(${name} ${ARG_HEADER})
  if(ARG_BINARIES)
    add_dependencies(${name} ${ARG_BINARIES})
  endif()
  if("tsan" IN_LIST ARG_LABELS)
    add_dependencies(reel_tsan_tests ${name})
  endif()
  reel_first_test(${name} "${ARG_LABELS}")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 240)
  endif()
  set(program ${name})
  if(REEL_TESTS_FROM)
    set(program ${REEL_TESTS_FROM}/${name})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  add_test(NAME ${name} COMMAND ${program})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "REEL_BIN=${CMAKE_BINARY_DIR}/bin;REEL_SOURCE=${CMAKE_SOURCE_DIR};${REEL_SANITIZER_ENVIRONMENT}")
  if(REEL_TESTED_IN_DEV AND NOT ARG_TORCH AND "unit" IN_LIST ARG_LABELS)
    reel_repeated_test(${name})
  endif()
endfunction()

# reel_has_one_thread(media_test A.Case B.*): cases that do one thing thousands of times in a thread. ThreadSanitizer would find
# nothing in them, and takes the longest; in dev they run.
function(reel_has_one_thread name)
  if(REEL_SANITIZE STREQUAL "thread")
    list(JOIN ARGN ":" cases)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${cases}")
  endif()
endfunction()

set(reel_sanitized 0)
if(REEL_SANITIZE)
  set(reel_sanitized 1)
endif()
# A program of ThreadSanitizer sleeps for a second before it exits, unless told: as long as a worker has to do so.
set(REEL_SANITIZER_ENVIRONMENT "REEL_SANITIZED=${reel_sanitized}"
  "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp:history_size=4:atexit_sleep_ms=0"
  "UBSAN_OPTIONS=print_stacktrace=1")
