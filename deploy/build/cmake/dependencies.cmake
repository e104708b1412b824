# SPDX-License-Identifier: Apache-2.0
# Third-party libraries of the system, each as one imported target.
# Protobuf and gRPC come first: torch's include folder carries headers of another protobuf.
find_package(Threads REQUIRED)
find_package(Protobuf 3.21 REQUIRED)
find_package(absl REQUIRED CONFIG)
find_package(gRPC 1.51 REQUIRED CONFIG)
find_package(prometheus-cpp REQUIRED CONFIG)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(spdlog REQUIRED CONFIG)
find_package(Boost 1.81 REQUIRED CONFIG)  # headers only
find_package(PkgConfig REQUIRED)
pkg_check_modules(FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libswscale libswresample libavutil)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(NATS REQUIRED IMPORTED_TARGET libnats)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.88)
if(REEL_TESTS)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED CONFIG)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

if(REEL_CUDA)
  # The folder that deploy/build/setup --cuda assembles, unless the system has a toolkit of its own.
  set(reel_cuda_toolkit ${CMAKE_SOURCE_DIR}/.deps/cuda)
  if(EXISTS ${reel_cuda_toolkit}/bin/nvcc AND NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${reel_cuda_toolkit}/bin/nvcc)
    set(CUDAToolkit_ROOT ${reel_cuda_toolkit})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # each object library of a kernel names its own
  set(CMAKE_CUDA_STANDARD 20)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
