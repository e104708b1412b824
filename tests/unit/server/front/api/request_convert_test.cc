// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/request_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/errors/error.h"
#include "server/front/api/page_token.h"

namespace reel::front {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kUuid[] = "123E4567-e89b-12d3-a456-426614174000";
const Asker kAsker{"blue", "4bf92f3577b34da6a3ce929d0e0e4736"};

std::vector<std::string> Fields(const absl::Status& status) {
  google::rpc::Status proto;
  proto.ParseFromString(SerializeError(status));
  std::vector<std::string> fields;
  for (const auto& any : proto.details()) {
    google::rpc::BadRequest bad;
    if (!any.UnpackTo(&bad)) continue;
    for (const auto& violation : bad.field_violations()) fields.push_back(violation.field());
  }
  return fields;
}

v1::GenerateVideoRequest Good() {
  v1::GenerateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  request.set_request_id(kUuid);
  request.set_priority(v1::PRIORITY_HIGH);
  request.mutable_timeout()->set_seconds(5);
  (*request.mutable_labels())["shot"] = "12";
  return request;
}

TEST(NewJobFrom, TakesACountOfOneToSixteen) {
  v1::CreateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  for (const auto& [asked, videos] : {std::pair{0, 1}, {1, 1}, {16, 16}}) {
    request.set_count(asked);
    const auto job = NewJobFrom(request, kAsker, {}, {});
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->count, videos);
  }
  for (const int wrong : {-1, 17, std::numeric_limits<int>::max()}) {
    request.set_count(wrong);
    const absl::Status refused = NewJobFrom(request, kAsker, {}, {}).status();
    EXPECT_THAT(Fields(refused), ElementsAre("count"));
    EXPECT_THAT(std::string(refused.message()), HasSubstr("1 to 16"));
    v1::EstimateVideoRequest estimate;
    *estimate.mutable_spec() = request.spec();
    estimate.set_count(wrong);
    EXPECT_THAT(Fields(NewJobFrom(estimate, kAsker, {}, {}).status()), ElementsAre("count"));
  }
}

TEST(NewJobFrom, PromotesADraftOnce) {
  v1::CreateVideoRequest request;
  request.mutable_spec()->mutable_source()->set_video("videos/draft");
  request.mutable_spec()->mutable_source()->mutable_promote();
  request.set_count(2);
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()), ElementsAre("count"));
}

TEST(NewJobFrom, CarriesEverything) {
  const auto job = NewJobFrom(Good(), kAsker, {}, {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->tenant, "blue");
  EXPECT_EQ(job->trace_id, kAsker.trace_id);
  EXPECT_EQ(job->spec.prompt, "a boat");
  EXPECT_EQ(job->request_id, "123e4567-e89b-12d3-a456-426614174000");
  EXPECT_EQ(job->priority, Priority::kHigh);
  EXPECT_EQ(job->timeout, absl::Seconds(5));
  EXPECT_EQ(job->labels.at("shot"), "12");
  EXPECT_TRUE(job->bound);
}

TEST(NewJobFrom, DetachedAndCreatedJobsAreNotBound) {
  auto request = Good();
  request.set_detached(true);
  EXPECT_FALSE(NewJobFrom(request, kAsker, {}, {})->bound);
  v1::CreateVideoRequest create;
  create.mutable_spec()->set_prompt("a boat");
  EXPECT_FALSE(NewJobFrom(create, kAsker, {}, {})->bound);
  EXPECT_FALSE(NewJobFrom(create, kAsker, {}, {})->timeout);
}

TEST(NewJobFrom, TheSameSpecHasTheSameBytesThroughEveryDoor) {
  v1::CreateVideoRequest create;
  for (const char* op : {"rope", "attention", "rms_norm", "gated"}) {
    (*create.mutable_spec()->mutable_kernels()->mutable_variants())[op] = "generic";
  }
  v1::GenerateVideoRequest generate;
  for (const char* op : {"gated", "rms_norm", "attention", "rope"}) {
    (*generate.mutable_spec()->mutable_kernels()->mutable_variants())[op] = "generic";
  }
  generate.set_priority(v1::PRIORITY_LOW);
  EXPECT_EQ(NewJobFrom(create, kAsker, {}, {})->spec_sent,
            NewJobFrom(generate, kAsker, {}, {})->spec_sent);
}

TEST(NewJobFrom, ListsEveryViolationAtOnceWithThoseOfTheSpec) {
  auto request = Good();
  request.set_request_id("not-a-uuid");
  request.set_priority(static_cast<v1::Priority>(9));
  request.mutable_timeout()->set_seconds(-1);
  request.mutable_labels()->clear();
  (*request.mutable_labels())[""] = "x";
  request.mutable_spec()->mutable_encoding()->set_speed(static_cast<v1::EncodingSpeed>(77));
  request.mutable_spec()->mutable_encoding()->set_origin(static_cast<v1::Origin>(4));
  request.mutable_spec()->add_conditions()->set_use(static_cast<v1::ConditionUse>(4));
  request.mutable_spec()->set_prompt(std::string(9000, 'a'));
  const auto job = NewJobFrom(request, kAsker, {}, {});
  EXPECT_EQ(job.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(job.status()), Reason::kInvalidRequest);
  const auto fields = Fields(job.status());
  for (const char* field :
       {"request_id", "priority", "timeout", "labels[\"\"]", "spec.encoding.speed",
        "spec.encoding.origin", "spec.conditions[0].use", "spec.prompt"}) {
    EXPECT_THAT(fields, Contains(field));
  }
}

TEST(NewJobFrom, UsesTheModelsCardToCompleteTheList) {
  ServedModel served;
  served.card.name = "m";
  served.is_default = true;
  served.card.defaults.width = served.card.defaults.height = 64;
  served.card.defaults.num_frames = 9;
  auto request = Good();
  request.set_request_id("x");
  request.mutable_spec()->set_width(33);
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {served}).status()), Contains("spec.width"));
}

TEST(NewJobFrom, AnExtensionAndARetakeLeaveSizeAndLengthToTheirSource) {
  v1::CreateVideoRequest request;
  v1::VideoSpec& spec = *request.mutable_spec();
  spec.set_prompt("a boat");
  spec.set_seed(3);
  spec.set_preset("quick");
  spec.set_keep_state(true);
  v1::Source& source = *spec.mutable_source();
  source.set_video("videos/r1-film");
  source.mutable_extend()->set_num_frames(72);
  auto job = NewJobFrom(request, kAsker, {}, {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(job->spec.is_extension());
  EXPECT_EQ(job->spec.source->extend.num_frames, 72);
  source.mutable_retake()->mutable_begin()->set_nanos(500'000'000);
  source.mutable_retake()->mutable_end()->set_seconds(2);
  job = NewJobFrom(request, kAsker, {}, {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(job->spec.is_retake());
  EXPECT_EQ(job->spec.source->retake.begin, 0.5);
  EXPECT_EQ(job->spec.source->retake.end, 2);
  spec.set_width(64);
  spec.set_height(64);
  spec.set_num_frames(9);
  spec.set_frame_rate(24);
  source.mutable_retake()->mutable_begin()->set_seconds(-1);
  source.mutable_retake()->mutable_end()->set_nanos(1'000'000'000);
  EXPECT_THAT(
      Fields(NewJobFrom(request, kAsker, {}, {}).status()),
      UnorderedElementsAre("spec.width", "spec.height", "spec.num_frames", "spec.frame_rate",
                           "spec.source.retake.begin", "spec.source.retake.end"));
}

TEST(NewJobFrom, APromotionNamesADraftAndNothingElse) {
  v1::CreateVideoRequest request;
  v1::Source& source = *request.mutable_spec()->mutable_source();
  source.set_video("videos/r1-draft");
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()), ElementsAre("spec.source"));
  source.mutable_promote();
  const auto job = NewJobFrom(request, kAsker, {}, {});
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(job->spec.is_promotion());
  EXPECT_EQ(job->spec.source->video, "videos/r1-draft");
  for (const char* const name : {"", "r1-draft", "videos/", "videos/../x", "videos/A"}) {
    source.set_video(name);
    EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()),
                ElementsAre("spec.source.video"))
        << name;
  }
  source.set_video("videos/r1-draft");
  request.mutable_spec()->set_prompt("a boat");
  request.mutable_spec()->set_seed(0);
  request.mutable_spec()->set_keep_state(true);
  request.mutable_spec()->add_conditions();
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()),
              UnorderedElementsAre("spec.prompt", "spec.seed", "spec.conditions"))
      << "whether it keeps its state is a choice of its own";
}

TEST(NewJobFrom, OnlyAnEstimateDoesWithoutTheBytesOfConditions) {
  v1::EstimateVideoRequest estimate;
  EXPECT_TRUE(NewJobFrom(estimate, kAsker, {}, {})->only_quoted);
  EXPECT_FALSE(NewJobFrom(Good(), kAsker, {}, {})->only_quoted);
}

TEST(NewJobFrom, ADescriptionOfAConditionIsThatOfItsBytes) {
  auto request = Good();
  v1::Condition& condition = *request.mutable_spec()->add_conditions();
  condition.set_image("\x89PNG\r\n\x1a\n and more");
  const auto made = NewJobFrom(request, kAsker, {}, {});
  ASSERT_TRUE(made.ok()) << made.status();
  const model::Condition known = made->spec.conditions[0];
  condition.set_content_type(known.content_type);
  condition.set_size_bytes(known.size_bytes);
  condition.set_sha256(known.sha256);
  EXPECT_TRUE(NewJobFrom(request, kAsker, {}, {}).ok());
  condition.set_content_type("image/jpeg");
  condition.set_size_bytes(1);
  condition.set_sha256("a");
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()),
              UnorderedElementsAre("spec.conditions[0].content_type",
                                   "spec.conditions[0].size_bytes", "spec.conditions[0].sha256"));
}

TEST(NewJobFrom, ASpecThatAdmissionJudgesIsNotJudgedHere) {
  auto request = Good();
  request.mutable_spec()->set_width(33);
  EXPECT_TRUE(NewJobFrom(request, kAsker, {}, {}).ok());
}

TEST(NewJobFrom, TimeoutsEndAtTheLimit) {
  RequestRules rules;
  rules.max_timeout = absl::Seconds(60);
  auto request = Good();
  request.mutable_timeout()->set_seconds(60);
  EXPECT_TRUE(NewJobFrom(request, kAsker, rules, {}).ok());
  request.mutable_timeout()->set_nanos(1);
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, rules, {}).status()), Contains("timeout"));
  request.mutable_timeout()->Clear();
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, rules, {}).status()), Contains("timeout"));
}

TEST(NewJobFrom, ATimeoutIsALegalDuration) {
  RequestRules rules;
  v1::CreateVideoRequest request;
  const auto refused = [&](int64_t seconds, int32_t nanos) {
    request.mutable_timeout()->set_seconds(seconds);
    request.mutable_timeout()->set_nanos(nanos);
    return !NewJobFrom(request, kAsker, rules, {}).ok();
  };
  EXPECT_FALSE(refused(5, 5));
  EXPECT_FALSE(refused(0, 5));
  EXPECT_TRUE(refused(5, -5));
  EXPECT_TRUE(refused(-5, 5));
  EXPECT_TRUE(refused(5, 1'000'000'000));
  EXPECT_TRUE(refused(5, -1'000'000'000));
  EXPECT_TRUE(refused(std::numeric_limits<int64_t>::max(), 999'999'999));
  EXPECT_TRUE(refused(std::numeric_limits<int64_t>::min(), 0));
}

TEST(NewJobFrom, LabelsAreFewAndShort) {
  v1::GenerateVideoRequest request;
  request.mutable_spec()->set_prompt("a boat");
  for (int i = 0; i < 16; ++i) (*request.mutable_labels())["key" + std::to_string(i)] = "v";
  EXPECT_TRUE(NewJobFrom(request, kAsker, {}, {}).ok());
  (*request.mutable_labels())["one too many"] = "v";
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()), Contains("labels"));
  request.mutable_labels()->clear();
  std::string wide;
  for (int i = 0; i < 64; ++i) wide += "\u00e4";  // 64 characters, 128 bytes
  (*request.mutable_labels())["k"] = wide;
  EXPECT_TRUE(NewJobFrom(request, kAsker, {}, {}).ok());
  (*request.mutable_labels())["k"] = wide + "x";
  EXPECT_THAT(Fields(NewJobFrom(request, kAsker, {}, {}).status()), ElementsAre("labels[\"k\"]"));
}

TEST(VideoIdFrom, TakesTheFormAndNothingElse) {
  EXPECT_EQ(*VideoIdFrom("videos/r1-abc234"), "r1-abc234");
  for (const std::string& bad :
       {std::string(), std::string("videos/"), std::string("r1-abc"), std::string("Videos/a"),
        std::string("videos/../x"), std::string("videos/a/b"), std::string("videos/a\0b", 10),
        "videos/" + std::string(64, 'a'), std::string("videos/..")}) {
    EXPECT_THAT(Fields(VideoIdFrom(bad).status()), ElementsAre("name")) << bad;
  }
}

TEST(ListQueryFrom, CoercesThePageSizeAndRefusesNegatives) {
  v1::ListVideosRequest request;
  EXPECT_EQ(ListQueryFrom(request, {"t"})->page_size, 50);
  request.set_page_size(201);
  EXPECT_EQ(ListQueryFrom(request, {"t"})->page_size, 200);
  request.set_page_size(7);
  EXPECT_EQ(ListQueryFrom(request, {"t"})->page_size, 7);
  request.set_page_size(-1);
  request.add_states(v1::VIDEO_STATE_UNSPECIFIED);
  EXPECT_THAT(Fields(ListQueryFrom(request, {"t"}).status()),
              UnorderedElementsAre("page_size", "states[0]"));
}

TEST(ListQueryFrom, GoesOnWhereThePageEnded) {
  v1::ListVideosRequest request;
  request.add_states(v1::VIDEO_STATE_FAILED);
  request.add_states(v1::VIDEO_STATE_FAILED);
  const PagePosition position{absl::FromUnixSeconds(5), "r1-x"};
  request.set_page_token(MakePageToken(position, {VideoState::kFailed}));
  const auto query = ListQueryFrom(request, {"t"});
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->before_id, "r1-x");
  EXPECT_EQ(query->before_time, position.time);
  EXPECT_THAT(query->states, ElementsAre(VideoState::kFailed));
  request.clear_states();
  EXPECT_THAT(Fields(ListQueryFrom(request, {"t"}).status()), ElementsAre("page_token"));
}

TEST(WatchPointFrom, RefusesNegativesAllAtOnce) {
  v1::WatchVideoRequest request;
  request.set_media_offset(-1);
  request.set_attempt(-2);
  EXPECT_THAT(Fields(WatchPointFrom(request).status()),
              UnorderedElementsAre("name", "media_offset", "attempt"));
  v1::DownloadVideoRequest download;
  download.set_name("videos/a");
  download.set_read_offset(-1);
  download.set_read_limit(-1);
  EXPECT_THAT(Fields(DownloadRangeFrom(download).status()),
              UnorderedElementsAre("read_offset", "read_limit"));
}

TEST(TimeoutOfCall, LeavesTimeForTheVerdict) {
  const RequestRules rules;
  EXPECT_EQ(TimeoutOfCall(absl::InfiniteDuration(), rules), absl::Minutes(10));
  EXPECT_EQ(TimeoutOfCall(absl::Seconds(100), rules), absl::Milliseconds(98'800));
  EXPECT_EQ(TimeoutOfCall(absl::Seconds(1), rules), absl::Milliseconds(940));
  EXPECT_EQ(TimeoutOfCall(absl::Hours(10), rules), absl::Minutes(30));
  EXPECT_GT(TimeoutOfCall(absl::Seconds(-1), rules), absl::ZeroDuration());
}

}  // namespace
}  // namespace reel::front
