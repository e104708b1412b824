# SPDX-License-Identifier: Apache-2.0
# The precompiled headers of tests. Nobody waits for a test's own code, everybody for its compilation: -O0. What it
# tests is optimised as ever.
reel_precompiled_header(test tests/test_header.h OPTIONS -O0
  LIBRARIES GTest::gmock absl::statusor absl::time)
reel_precompiled_header(call_test tests/call_test_header.h OPTIONS -O0
  LIBRARIES GTest::gmock absl::statusor absl::time reel::proto_reel_v1 gRPC::grpc++)
target_include_directories(reel_call_test_header PRIVATE ${CMAKE_SOURCE_DIR})
