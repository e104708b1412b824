# SPDX-License-Identifier: Apache-2.0
# reel_header_checks and reel_torch_header_checks: every header compiles alone. A header with a source of the same name needs no more: the source
# includes its own header first (lint.headers). The others get a translation unit each. Globbed on purpose: a header that somebody forgot to list
# must not slip through. Not part of `all`; the ctest lint.headers_alone builds them.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
  ${CMAKE_SOURCE_DIR}/kernels/*.h ${CMAKE_SOURCE_DIR}/model/*.h ${CMAKE_SOURCE_DIR}/server/*.h
  ${CMAKE_SOURCE_DIR}/client/*.h)

foreach(header ${headers})
  string(REGEX REPLACE "\\.h$" ".cc" source ${header})
  if(EXISTS ${CMAKE_SOURCE_DIR}/${source})
    list(REMOVE_ITEM headers ${header})
  endif()
endforeach()

# Where the libraries of these are absent there is nothing to compile them against.
if(NOT REEL_CUDA)
  list(FILTER headers EXCLUDE REGEX "^(kernels/cuda|model/torch_cuda)/|_cuda\\.h$")
endif()
set(torch_headers ${headers})
list(FILTER torch_headers INCLUDE REGEX "^(model/(ltx|ltx2|vae|denoise|family|frames|graphs|latents|tokens|layers|bridge|torch_cuda|torch_plugins)|kernels/torch_(ops|views))/")
list(FILTER headers EXCLUDE REGEX "^(model/(ltx|ltx2|vae|denoise|family|frames|graphs|latents|tokens|layers|bridge|torch_cuda|torch_plugins)|kernels/torch_(ops|views))/")

# reel_header_units(VARIABLE header...) writes a unit for each and lists them in the variable.
function(reel_header_units variable)
  set(units)
  foreach(header ${ARGN})
    string(REGEX REPLACE "[/.]" "_" stem ${header})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cc)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"  // its guard, too\n")
    list(APPEND units ${unit})
  endforeach()
  set(${variable} ${units} PARENT_SCOPE)
endfunction()

reel_header_units(units ${headers})
set(reel_header_targets reel_header_checks)  # for the ctest: an object library is not built with one that depends on it
add_library(reel_header_checks OBJECT EXCLUDE_FROM_ALL ${units})
target_compile_options(reel_header_checks PRIVATE -O0 -g0)
target_link_libraries(reel_header_checks PRIVATE reel_warnings
  reel::proto_reel_v1 reel::proto_worker reel::proto_config reel::proto_health gRPC::grpc++
  prometheus-cpp::core PkgConfig::FFMPEG PkgConfig::SQLITE spdlog::spdlog OpenSSL::Crypto absl::status)

# Torch's own headers come precompiled, else these few would take as long as all others.
if(REEL_HAS_TORCH)
  reel_header_units(units ${torch_headers})
  add_library(reel_torch_header_checks OBJECT EXCLUDE_FROM_ALL ${units})
  target_link_libraries(reel_torch_header_checks PRIVATE reel_warnings reel_torch absl::status)
  reel_use_header(reel_torch_header_checks torch)
  list(APPEND reel_header_targets reel_torch_header_checks)
endif()
