# SPDX-License-Identifier: Apache-2.0
# `cmake --install` and the packages of cpack: a .deb, and a tarball that runs from any folder. Programs find libraries in
# lib/reel and models in share/reel/models beside their own folder.

# Not install(TARGETS): the build's path already begins with lib/reel, and CMake leaves such a one as it is, with what follows.
function(reel_install_program name)
  install(PROGRAMS $<TARGET_FILE:${name}> DESTINATION bin)
  install(CODE "set(program \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/${name}\")
    if(CMAKE_INSTALL_DO_STRIP)
      execute_process(COMMAND \"${CMAKE_STRIP}\" \"\${program}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()
    file(RPATH_SET FILE \"\${program}\" NEW_RPATH \"\\$ORIGIN/../lib/reel\")")
endfunction()
foreach(program reeld reel-worker reel reel-render reel-frames)
  reel_install_program(${program})
endforeach()

# libtorch's CPU half and what it loads; the rest of what programs need comes with the system's packages.
if(REEL_HAS_TORCH)
  file(GLOB reel_cuda_wheel ${REEL_TORCH_ROOT}/../nvidia/cu13/lib)
  install(FILES ${REEL_TORCH_ROOT}/lib/libtorch_cpu.so ${REEL_TORCH_ROOT}/lib/libc10.so ${REEL_TORCH_ROOT}/lib/libgomp.so.1
    ${reel_cuda_wheel}/libcupti.so.13 ${reel_cuda_wheel}/libcudart.so.13 DESTINATION lib/reel
    COMPONENT libtorch)  # apart for the test of packages alone: half a gigabyte
endif()
# The kernels are in lib, where programs look for them. libtorch's CUDA half and its libraries are in lib/reel: three
# gigabytes, for images and `cmake --install`. Packages leave the component out.
if(REEL_CUDA AND TARGET reel_torch_cuda)
  install(PROGRAMS $<TARGET_FILE:reel_cuda> $<TARGET_FILE:reel_torch_cuda> DESTINATION lib COMPONENT cuda)
  install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/$<TARGET_FILE_NAME:reel_torch_cuda>\"
    NEW_RPATH \"\\$ORIGIN/reel\")" COMPONENT cuda)
  set(wheels ${REEL_TORCH_ROOT}/../nvidia)
  file(GLOB cuda_half ${REEL_TORCH_ROOT}/lib/libtorch_cuda.so ${REEL_TORCH_ROOT}/lib/libc10_cuda.so
    ${REEL_TORCH_ROOT}/lib/libtorch_nvshmem.so ${wheels}/cudnn/lib/libcudnn*.so.9 ${wheels}/cusparselt/lib/libcusparseLt.so.0
    ${wheels}/nccl/lib/libnccl.so.2 ${wheels}/nvshmem/lib/libnvshmem_host.so.3)
  foreach(library cublas cublasLt cufft curand cusparse cufile nvJitLink nvrtc nvrtc-builtins)
    file(GLOB found ${wheels}/cu13/lib/lib${library}.so.*)
    list(APPEND cuda_half ${found})
  endforeach()
  install(FILES ${cuda_half} DESTINATION lib/reel COMPONENT cuda)
endif()

install(DIRECTORY model/demo/weights/ DESTINATION share/reel/models/ltx-demo)
install(DIRECTORY model/demo/films/weights/ DESTINATION share/reel/models/ltx2-demo)
install(FILES deploy/config/default.textproto deploy/config/production.textproto DESTINATION share/doc/reel)
install(FILES LICENSE NOTICE CHANGELOG.md SECURITY.md DESTINATION share/doc/reel)

# Said by the program itself, from its flags. What it says for zsh is to be sourced, not found in a folder.
function(reel_install_words name folder)
  set(words ${CMAKE_BINARY_DIR}/words/${name})
  install(CODE "file(MAKE_DIRECTORY \"${CMAKE_BINARY_DIR}/words\")
    execute_process(COMMAND \"$<TARGET_FILE:reel>\" ${ARGN} OUTPUT_FILE \"${words}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${words} DESTINATION ${folder})
endfunction()
reel_install_words(reel.1 share/man/man1 man)
reel_install_words(reel share/bash-completion/completions completion bash)
reel_install_words(reel.fish share/fish/vendor_completions.d completion fish)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};reel;Unspecified;/" "${CMAKE_BINARY_DIR};reel;libtorch;/")  # not cuda
set(CPACK_PACKAGE_NAME reel)
set(CPACK_PACKAGE_VENDOR "The Reel project")
set(CPACK_PACKAGE_CONTACT "The Reel project <reel@example.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Renders videos from text and streams them while they are made")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${REEL_TORCH_ROOT}/lib ${reel_cuda_wheel})
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)  # for https to a store or a collector
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
include(CPack)
