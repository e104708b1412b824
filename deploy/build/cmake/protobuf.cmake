# SPDX-License-Identifier: Apache-2.0
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

# reel_proto_library(reel_v1 PROTOS reel/v1/video.proto [GRPC] DEPENDS google_rpc)
# makes reel::proto_reel_v1; paths are relative to proto/. GRPC adds service stubs.
function(reel_proto_library name)
  cmake_parse_arguments(ARG "GRPC" "" "PROTOS;DEPENDS" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  set(sources)
  foreach(proto ${ARG_PROTOS})
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    set(generated ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
    set(grpc_arguments)
    if(ARG_GRPC)
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
  if(ARG_GRPC)
    target_link_libraries(reel_proto_${name} PUBLIC gRPC::grpc++)
  endif()
  add_library(reel::proto_${name} ALIAS reel_proto_${name})
endfunction()
