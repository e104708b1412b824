# SPDX-License-Identifier: Apache-2.0
# The precompiled headers of libraries; reel_library() says which.
set(reel_header_libraries absl::any_invocable absl::span absl::status absl::statusor absl::strings absl::time)
reel_precompiled_header(library deploy/build/headers/library.h LIBRARIES ${reel_header_libraries})
# Of what computes every value of a row or a pixel: optimised in every build, since without, dev takes six times as long for a
# large video. Without contraction a row has the same bits on every processor; vectors need the third level.
set(reel_loop_options -ffp-contract=off $<IF:$<CONFIG:Debug>,-O1,-O3>)
reel_precompiled_header(loops deploy/build/headers/library.h LIBRARIES ${reel_header_libraries} OPTIONS ${reel_loop_options})
reel_precompiled_header(messages deploy/build/headers/messages.h
  LIBRARIES ${reel_header_libraries} reel::proto_reel_v1)
reel_precompiled_header(calls deploy/build/headers/calls.h
  LIBRARIES ${reel_header_libraries} reel::proto_reel_v1 gRPC::grpc++)
foreach(header messages calls)
  target_include_directories(reel_${header}_header PRIVATE ${CMAKE_SOURCE_DIR})
endforeach()
