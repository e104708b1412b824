# SPDX-License-Identifier: Apache-2.0
# reel_header_checks: a translation unit for each header, so that every header compiles alone. Globbed on purpose: a
# header that somebody forgot to list must not slip through. Not part of `all`; the ctest lint.headers_alone builds it.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
  ${CMAKE_SOURCE_DIR}/kernels/*.h ${CMAKE_SOURCE_DIR}/model/*.h ${CMAKE_SOURCE_DIR}/server/*.h
  ${CMAKE_SOURCE_DIR}/client/*.h)

# Where the libraries of these are absent there is nothing to compile them against.
if(NOT REEL_CUDA)
  list(FILTER headers EXCLUDE REGEX "^kernels/cuda/|_cuda\\.h$")
endif()
if(NOT TARGET reel::torch)
  list(FILTER headers EXCLUDE REGEX "^kernels/torch_ops/|^model/(ltx|layers|bridge|weights)/")
endif()

set(units)
foreach(header ${headers})
  string(REGEX REPLACE "[/.]" "_" stem ${header})
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${stem}.cc)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"  // its guard, too\n")
  list(APPEND units ${unit})
endforeach()

add_library(reel_header_checks OBJECT EXCLUDE_FROM_ALL ${units})
target_compile_options(reel_header_checks PRIVATE -O0 -g0)
target_link_libraries(reel_header_checks PRIVATE reel_warnings
  reel::proto_reel_v1 reel::proto_worker reel::proto_config reel::proto_health gRPC::grpc++
  prometheus-cpp::core PkgConfig::FFMPEG PkgConfig::SQLITE spdlog::spdlog OpenSSL::Crypto absl::status)
