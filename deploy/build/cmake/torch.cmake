# SPDX-License-Identifier: Apache-2.0
# libtorch from the wheel that deploy/build/setup --torch installs, as the target reel_torch.
# Own imported targets, not find_package(Torch): that one wants CUDA to be found and adds its flags everywhere.
# Its include folder carries headers of another protobuf: never on a target that uses protobuf.
set(REEL_TORCH AUTO CACHE STRING "LTX-Video with libtorch: AUTO (when it is installed), ON, OFF")
set_property(CACHE REEL_TORCH PROPERTY STRINGS AUTO ON OFF)

file(GLOB reel_torch_root ${CMAKE_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch)
set(REEL_TORCH_ROOT "${reel_torch_root}" CACHE PATH "Folder of torch with include/ and lib/")
if(NOT REEL_TORCH_ROOT)  # configured before it was installed
  set_property(CACHE REEL_TORCH_ROOT PROPERTY VALUE "${reel_torch_root}")
endif()

# Of an installation with what `import torch` needs: deploy/build/setup --python.
set(REEL_PYTHON_TORCH ${CMAKE_SOURCE_DIR}/.deps/venv/bin/python CACHE FILEPATH "Python that runs the tests of reel_kernels")

set(REEL_HAS_TORCH OFF)
if(REEL_TORCH STREQUAL "OFF")
elseif(EXISTS "${REEL_TORCH_ROOT}/lib/libtorch_cpu.so")
  set(REEL_HAS_TORCH ON)
elseif(REEL_TORCH STREQUAL "ON")
  message(FATAL_ERROR "REEL_TORCH is ON, but there is no libtorch: run deploy/build/setup --torch")
endif()

# Where an installation keeps the libraries; the build's own folder comes behind it. Also without libtorch, so that what was
# linked before it was installed need not be linked again.
list(APPEND CMAKE_BUILD_RPATH "$ORIGIN/../lib/reel")
if(REEL_HAS_TORCH)
  add_library(reel_torch INTERFACE)
  target_include_directories(reel_torch SYSTEM INTERFACE ${REEL_TORCH_ROOT}/include)
  # Without it some of ATen's headers include all of its operators, more than a thousand.
  target_compile_definitions(reel_torch INTERFACE AT_PER_OPERATOR_HEADERS)
  # The CPU libraries only: a process on a machine without CUDA loads none of it.
  target_link_libraries(reel_torch INTERFACE
    ${REEL_TORCH_ROOT}/lib/libtorch_cpu.so ${REEL_TORCH_ROOT}/lib/libc10.so)
  reel_precompiled_header(torch model/bridge/aten.h LIBRARIES reel_torch)
endif()
message(STATUS "libtorch: ${REEL_HAS_TORCH}")

# reel_torch_library(model_ltx SOURCES a.cc PUBLIC reel::model_layers)
# is a reel_library that sees torch and uses the precompiled header of its operators.
function(reel_torch_library name)
  reel_library(${name} HEADER torch ${ARGN})
  target_link_libraries(reel_${name} PUBLIC reel_torch)
endfunction()
