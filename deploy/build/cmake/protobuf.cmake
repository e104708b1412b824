# SPDX-License-Identifier: Apache-2.0
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

# reel_proto_library(reel_v1 MESSAGES reel/v1/video.proto SERVICES reel/v1/video_service.proto DEPENDS google_rpc)
# makes reel::proto_reel_v1; paths are relative to proto/. Files of SERVICES get stubs for gRPC.
function(reel_proto_library name)
  cmake_parse_arguments(ARG "" "" "MESSAGES;SERVICES;DEPENDS" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto ${ARG_MESSAGES} ${ARG_SERVICES})
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    set(generated ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
    set(grpc_arguments)
    if(proto IN_LIST ARG_SERVICES)
      list(APPEND generated ${out}/${stem}.grpc.pb.cc ${out}/${stem}.grpc.pb.h)
      set(grpc_arguments --grpc_out=${out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
    endif()
    add_custom_command(OUTPUT ${generated}
      COMMAND protobuf::protoc -I ${CMAKE_SOURCE_DIR}/proto --cpp_out=${out} ${grpc_arguments}
              ${CMAKE_SOURCE_DIR}/proto/${proto}
      DEPENDS ${CMAKE_SOURCE_DIR}/proto/${proto} COMMENT "protoc ${proto}")
    list(APPEND sources ${generated})
  endforeach()
  add_library(reel_proto_${name} STATIC ${sources})
  target_include_directories(reel_proto_${name} SYSTEM PUBLIC ${out})
  set(dependencies ${ARG_DEPENDS})
  list(TRANSFORM dependencies PREPEND reel_proto_)
  target_link_libraries(reel_proto_${name} PUBLIC ${dependencies} protobuf::libprotobuf)
  if(ARG_SERVICES)
    target_link_libraries(reel_proto_${name} PUBLIC gRPC::grpc++)
  endif()
  # Each of protoc's files has these two names: together they need a number.
  if(REEL_TOGETHER)
    reel_compile_together(reel_proto_${name} 8)
    set_target_properties(reel_proto_${name} PROPERTIES UNITY_BUILD_UNIQUE_ID REEL_PROTO_FILE
      UNITY_BUILD_CODE_BEFORE_INCLUDE [[
#undef schemas
#undef file_default_instances
#define REEL_JOIN(name, file) name##file
#define REEL_OF_FILE(name, file) REEL_JOIN(name, file)
#define schemas REEL_OF_FILE(schemas_, REEL_PROTO_FILE)
#define file_default_instances REEL_OF_FILE(file_default_instances_, REEL_PROTO_FILE)
]])
  endif()
  # Nobody steps through protoc's code, and with AddressSanitizer a file of services compiles in 28 s instead of 9; its
  # headers are still watched where ours use them. ThreadSanitizer must see all of it, or it reports races that are none.
  # In quickstart nobody waits for it either: a message is a progress event or a piece of a file, whose bytes the library copies.
  target_compile_options(reel_proto_${name} PRIVATE -g0 $<$<CONFIG:Release>:-O0>)
  if(REEL_SANITIZE MATCHES "address")
    target_compile_options(reel_proto_${name} PRIVATE -fno-sanitize=all)
  endif()
  add_library(reel::proto_${name} ALIAS reel_proto_${name})
endfunction()
