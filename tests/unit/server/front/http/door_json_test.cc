// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "reel/v1/video_service.pb.h"
#include "server/errors/error.h"
#include "server/front/http/door_error.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

TEST(DoorJson, BothSpellingsAreRead) {
  for (
      const char* text :
      {R"({"spec": {"prompt": "p", "numFrames": 9, "seed": "18446744073709551615"}, "timeout": "5s"})",
       R"({"spec": {"prompt": "p", "num_frames": 9, "seed": 18446744073709551615}, "timeout": "5s"})"}) {
    v1::CreateVideoRequest request;
    const absl::Status read = ReadJson(text, request);
    ASSERT_TRUE(read.ok()) << read;
    EXPECT_EQ(request.spec().num_frames(), 9);
    EXPECT_EQ(request.spec().seed(), 18446744073709551615U);
    EXPECT_EQ(request.timeout().seconds(), 5);
  }
}

TEST(DoorJson, IsWrittenAsProto3Json) {
  v1::CreateVideoResponse response;
  response.mutable_video()->set_state(v1::VIDEO_STATE_QUEUED);
  response.mutable_video()->mutable_media()->set_size_bytes(1'000'000'000'000);
  EXPECT_EQ(WriteJson(response),
            R"({"video":{"state":"VIDEO_STATE_QUEUED","media":{"sizeBytes":"1000000000000"}}})");
}

TEST(DoorJson, UnknownFieldsAreAllNamedWithTheNearest) {
  v1::CreateVideoRequest request;
  const absl::Status read = ReadJson(
      R"({"spec": {"promt": "p", "conditions": [{"image": ""}, {"imagge": ""}]}, "qqqq": 1})",
      request);
  EXPECT_EQ(ReasonOf(read), Reason::kInvalidRequest);
  const std::string body = ErrorReply(read).body;
  EXPECT_THAT(body, HasSubstr("spec.promt"));
  EXPECT_THAT(body, HasSubstr("the nearest is prompt"));
  EXPECT_THAT(body, HasSubstr("spec.conditions[1].imagge"));
  EXPECT_THAT(body, HasSubstr("qqqq"));
}

TEST(DoorJson, WhatIsNoMessageIsRefused) {
  const std::string deep = "{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}";
  const std::string bottomless = std::string(4 << 20, '[');
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("[]"), std::string("{"), std::string("null"),
        std::string("{\"spec\": 1}"), std::string("{\"spec\": {\"width\": \"wide\"}}"),
        std::string("{\"timeout\": 5}"), std::string("{\"requestId\": \"\xff\"}"), deep,
        bottomless}) {
    v1::CreateVideoRequest request;
    EXPECT_EQ(ReasonOf(ReadJson(text, request)), Reason::kUndecodableRequest)
        << text.substr(0, 40) << ReadJson(text, request);
  }
}

TEST(DoorJson, ANameThatIsGivenTwiceIsRefusedWithItsPath) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"spec": {"prompt": "a"}, "spec": {"width": 64}})", "spec"},
      {R"({"spec": {"prompt": "a", "prompt": "a"}})", "spec.prompt"},
      {R"({"sp\u0065c": {}, "spec": {}})", "spec"},
      {R"({"spec": {"numFrames": 9, "num_frames": 9}})", "spec.num_frames"},
      {R"({"requestId": "a", "request_id": "a"})", "request_id"},
      {R"({"spec": {"conditions": [{"image": ""}, {"image": "", "image": ""}]}})",
       "spec.conditions[1].image"},
      {R"({"labels": {"a": "1", "a": "2"}})", "labels.a"},
      {R"({"spec": null, "spec": {"prompt": "a"}})", "spec"}};
  for (const auto& [text, path] : cases) {
    v1::CreateVideoRequest request;
    const absl::Status read = ReadJson(text, request);
    EXPECT_EQ(ReasonOf(read), Reason::kInvalidRequest) << text << read;
    EXPECT_THAT(ErrorReply(read).body, HasSubstr("\"field\":\"" + path + "\"")) << text;
    EXPECT_THAT(ErrorReply(read).body, HasSubstr("must be given once")) << text;
  }
}

TEST(DoorJson, TheSameNameInTwoObjectsIsNoRepetition) {
  v1::CreateVideoRequest request;
  const absl::Status read = ReadJson(
      R"({"spec": {"prompt": "prompt", "conditions": [{"image": "AA=="}, {"image": "AA=="}]},
          "labels": {"prompt": "spec", "spec": "prompt"}})",
      request);
  EXPECT_TRUE(read.ok()) << read;
}

// A check that copied the path of each name would copy 64 GB here.
TEST(DoorJson, LongAndManyNamesCostWhatTheyAreLong) {
  const std::string outer(1 << 20, 'x');
  std::string names, repeated;
  for (int i = 0; i < 60'000; ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ",", "\"", i, "\":0");
    absl::StrAppend(&repeated, i == 0 ? "" : ",", "\"a\":0");
  }
  const absl::Time begin = absl::Now();
  for (const std::string& members : {names, repeated}) {
    EXPECT_EQ(ParseJsonObject("{\"" + outer + "\":{" + members + "}}").ok(), members == names);
  }
  EXPECT_LT(absl::Now() - begin, absl::Seconds(30));
}

TEST(DoorJson, BracketsInStringsAreNoDepth) {
  v1::CreateVideoRequest request;
  EXPECT_TRUE(ReadJson("{\"requestId\": \"\\\"" + std::string(100, '{') + "\"}", request).ok());
}

TEST(DoorJson, AQueryIsReadByItsFields) {
  v1::ListVideosRequest request;
  ASSERT_TRUE(ReadQuery({{"pageSize", "7"},
                         {"states", "VIDEO_STATE_QUEUED"},
                         {"states", "VIDEO_STATE_FAILED"},
                         {"page_token", "t"}},
                        request)
                  .ok());
  EXPECT_EQ(request.page_size(), 7);
  EXPECT_EQ(request.states_size(), 2);
  EXPECT_EQ(request.page_token(), "t");
  EXPECT_EQ(ReasonOf(ReadQuery({{"pagesize", "7"}}, request)), Reason::kInvalidRequest);
  EXPECT_EQ(ReasonOf(ReadQuery({{"pageSize", "7"}, {"page_size", "8"}}, request)),
            Reason::kInvalidRequest);
  EXPECT_EQ(ReasonOf(ReadQuery({{"pageSize", "many"}}, request)), Reason::kUndecodableRequest);
}

// Each situation of the table by its status and what a client may rely on.
TEST(DoorError, SaysOverHttpWhatGrpcSays) {
  struct Case {
    Reason reason;
    int status;
    const char* retry;  // X-Should-Retry
    bool after;         // Retry-After
  };
  const Case cases[] = {{Reason::kInvalidSpec, 400, "", false},
                        {Reason::kVideoNotFinal, 400, "", false},
                        {Reason::kVideoNotReady, 409, "false", true},
                        {Reason::kUnauthenticated, 401, "", false},
                        {Reason::kPermissionDenied, 403, "", false},
                        {Reason::kOriginRefused, 403, "", false},
                        {Reason::kVideoNotFound, 404, "", false},
                        {Reason::kRouteNotFound, 404, "", false},
                        {Reason::kMethodNotAllowed, 405, "", false},
                        {Reason::kRequestIdConflict, 409, "false", false},
                        {Reason::kOffsetPastEnd, 416, "", false},
                        {Reason::kTenantQuota, 429, "false", true},
                        {Reason::kQueueFull, 503, "true", true},
                        {Reason::kDeadlineUnreachable, 504, "false", false},
                        {Reason::kCancelledByOwner, 499, "false", false},
                        {Reason::kWorkerLost, 500, "false", false},
                        {Reason::kMediaCorrupt, 500, "false", false},
                        {Reason::kBodyTooLarge, 413, "", false},
                        {Reason::kBodyType, 415, "", false},
                        {Reason::kMetadataTooLarge, 431, "", false},
                        {Reason::kRequestNotReceived, 408, "", false},
                        {Reason::kOtherAttempt, 412, "", false},
                        {Reason::kHostRefused, 400, "", false}};
  for (const Case& c : cases) {
    const std::string name(Describe(c.reason).name);
    ErrorDetails details;
    details.metadata["k"] = "v";
    const DoorReply reply = ErrorReply(MakeError(c.reason, "Because: v", details));
    DoorHead fields;  // borrowed for its look-up
    for (const DoorField& field : reply.fields) fields.fields.push_back(field);
    EXPECT_EQ(reply.status, c.status) << name;
    EXPECT_EQ(fields.Find("X-Should-Retry"), c.retry) << name;
    EXPECT_EQ(fields.Count("Retry-After"), c.after ? 1 : 0) << name;
    EXPECT_EQ(fields.Count("WWW-Authenticate"), c.status == 401 ? 1 : 0) << name;
    const auto body = nlohmann::json::parse(reply.body);
    EXPECT_EQ(body["error"]["code"], c.status) << name;
    EXPECT_EQ(body["error"]["message"], "Because: v") << name;
    EXPECT_EQ(body["error"]["details"][0]["reason"], name);
    EXPECT_EQ(body["error"]["details"][0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    EXPECT_EQ(body["error"]["details"][0]["metadata"]["k"], "v") << name;
  }
  EXPECT_EQ(
      nlohmann::json::parse(ErrorReply(MakeError(Reason::kQueueFull, "m")).body)["error"]["status"],
      "UNAVAILABLE");
}

TEST(DoorError, RetryAfterIsRoundedUp) {
  ErrorDetails details;
  details.retry_after = absl::Milliseconds(1200);
  const DoorReply reply = ErrorReply(MakeError(Reason::kQueueFull, "m", details));
  DoorHead fields;
  fields.fields = reply.fields;
  EXPECT_EQ(fields.Find("Retry-After"), "2");
  EXPECT_EQ(fields.Find("Retry-After-Ms"), "1200");
}

TEST(DoorError, WhatHasNoReasonIsInternal) {
  const DoorReply reply = ErrorReply(absl::InvalidArgumentError("/secret/path"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_THAT(reply.body, ::testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace reel::front
