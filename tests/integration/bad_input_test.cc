// SPDX-License-Identifier: Apache-2.0
// A refusal names every broken rule with the nearest legal value, and costs no device work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

TEST(BadInput, AllViolationsComeAtOnceWithNearestValues) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_width(500);
  spec.set_num_frames(100);
  spec.set_guidance_scale(-3);
  spec.mutable_encoding()->set_crf(99);
  const StreamResult result = calls.Generate(spec);
  EXPECT_EQ(result.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(result.reason(), "INVALID_SPEC");
  EXPECT_THAT(
      ViolatedFields(result.status),
      IsSupersetOf({"spec.width", "spec.num_frames", "spec.guidance_scale", "spec.encoding.crf"}));
  EXPECT_THAT(result.status.error_details(), HasSubstr("512"));
  EXPECT_THAT(result.status.error_details(), HasSubstr("97"));
  EXPECT_THAT(result.events, IsEmpty());
  EXPECT_EQ(server.Metric("reel_stage_duration_seconds_count"), 0);
}

TEST(BadInput, CornerValuesAreRefusedFast) {
  ReelServer server;
  Calls calls(server.Connect());
  for (const int32_t value :
       {-1, 1, 33, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    v1::VideoSpec spec = SmallSpec("x");
    spec.set_width(value);
    spec.set_height(value);
    spec.set_num_frames(value == 1 ? 2 : value);
    const absl::Time start = absl::Now();
    EXPECT_EQ(calls.Generate(spec).status.error_code(), grpc::StatusCode::INVALID_ARGUMENT)
        << value;
    EXPECT_LT(absl::Now() - start, absl::Seconds(1)) << value;
  }
}

TEST(BadInput, PromptsAreNeverRepeatedOrLogged) {
  ReelServer server;
  Calls calls(server.Connect());
  const std::string canary = "canary-prompt-4711";
  v1::VideoSpec spec = SmallSpec(canary);
  ASSERT_TRUE(calls.Generate(spec).status.ok());
  std::string long_prompt = canary;
  long_prompt.resize(3000, 'x');
  const StreamResult refused = calls.Generate(SmallSpec(long_prompt));
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused.status.error_message().find(canary), std::string::npos);
  EXPECT_EQ(refused.status.error_details().find(canary), std::string::npos);
  EXPECT_EQ(server.Log().find(canary), std::string::npos);
  EXPECT_EQ(server.Get("/metrics").find(canary), std::string::npos);
}

TEST(BadInput, NamesOfOtherThingsAreAnswersNotPaths) {
  ReelServer server;
  Calls calls(server.Connect());
  for (const char* name : {"", "videos/", "videos/../reel.db", "videos/%2e%2e", "/etc/passwd",
                           "videos/a/b", "jobs/x", "videos/local-aaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    v1::GetVideoRequest request;
    request.set_name(name);
    v1::GetVideoResponse response;
    grpc::ClientContext context;
    const grpc::Status status = calls.videos().GetVideo(&context, request, &response);
    EXPECT_TRUE(status.error_code() == grpc::StatusCode::NOT_FOUND ||
                status.error_code() == grpc::StatusCode::INVALID_ARGUMENT)
        << name << ": " << status.error_code();
    EXPECT_FALSE(ReasonOf(status).empty()) << name;
  }
}

TEST(BadInput, UnknownModelsAndKernelsListTheKnownOnes) {
  ReelServer server;
  Calls calls(server.Connect());
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_model("nonesuch");
  const StreamResult model = calls.Generate(spec);
  EXPECT_EQ(model.status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(model.reason(), "MODEL_NOT_FOUND");
  EXPECT_THAT(model.status.error_message(), HasSubstr("testcard"));
  spec = SmallSpec("x");
  spec.mutable_kernels()->set_profile("fastest");
  const StreamResult profile = calls.Generate(spec);
  EXPECT_EQ(profile.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(profile.reason(), "UNKNOWN_KERNEL");
  EXPECT_THAT(profile.status.error_message(), HasSubstr("auto"));
}

}  // namespace
}  // namespace reel::tests
