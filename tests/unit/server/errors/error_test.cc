// SPDX-License-Identifier: Apache-2.0
#include "server/errors/error.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

namespace reel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

google::rpc::Status Parsed(const absl::Status& status) {
  google::rpc::Status out;
  EXPECT_TRUE(out.ParseFromString(SerializeError(status)));
  return out;
}

// The detail of a type, empty when there is none.
template <typename Detail>
Detail DetailOf(const google::rpc::Status& status) {
  Detail detail;
  for (const auto& any : status.details()) {
    if (any.Is<Detail>()) any.UnpackTo(&detail);
  }
  return detail;
}

TEST(Error, ReasonFixesTheCodeAndIsReadBack) {
  for (const ReasonRow& row : AllReasons()) {
    const absl::Status status = MakeError(row.reason, "It is so: 7");
    EXPECT_EQ(status.code(), row.code) << row.name;
    EXPECT_EQ(ReasonOf(status), row.reason) << row.name;
    const auto info = DetailOf<google::rpc::ErrorInfo>(Parsed(status));
    EXPECT_EQ(info.reason(), std::string(row.name));
    EXPECT_EQ(info.domain(), "reel");
  }
}

TEST(Error, EveryVariableTravelsAsMetadata) {
  ErrorDetails details;
  details.metadata = {{"limit", "256"}, {"value", "300"}};
  const auto info = DetailOf<google::rpc::ErrorInfo>(
      Parsed(MakeError(Reason::kTenantQuota, "Too many jobs: 300 of 256", details)));
  EXPECT_EQ(info.metadata().at("limit"), "256");
  EXPECT_EQ(info.metadata().at("value"), "300");
}

TEST(Error, DetailsBesideTheReasonSurviveSerialisation) {
  ErrorDetails details;
  details.retry_after = absl::Milliseconds(1500);
  details.resource_type = "video";
  details.resource_name = "videos/a-b";
  details.quota_subject = "tenant:studio";
  details.quota_description = "jobs";
  const absl::Status status = MakeError(Reason::kQueueFull, "The queue is full: 1000", details);
  EXPECT_EQ(RetryAfterOf(status), absl::Milliseconds(1500));
  const google::rpc::Status wire = Parsed(status);
  EXPECT_EQ(DetailOf<google::rpc::RetryInfo>(wire).retry_delay().nanos(), 500000000);
  EXPECT_EQ(DetailOf<google::rpc::ResourceInfo>(wire).resource_name(), "videos/a-b");
  EXPECT_EQ(DetailOf<google::rpc::QuotaFailure>(wire).violations(0).subject(), "tenant:studio");
  const absl::Status back = ParseError(SerializeError(status));
  EXPECT_EQ(back.code(), status.code());
  EXPECT_EQ(back.message(), status.message());
  EXPECT_EQ(ReasonOf(back), Reason::kQueueFull);
  EXPECT_EQ(RetryAfterOf(back), absl::Milliseconds(1500));
}

TEST(Error, NamesEveryViolationAtOnce) {
  const absl::Status status = MakeInvalid(
      Reason::kInvalidSpec,
      {{"spec.width", "must be a multiple of 32"}, {"spec.num_frames", "must be 8k + 1"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const auto request = DetailOf<google::rpc::BadRequest>(Parsed(status));
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& violation : request.field_violations()) {
    found.emplace_back(violation.field(), violation.description());
  }
  EXPECT_THAT(found, ElementsAre(Pair("spec.width", HasSubstr("multiple of 32")),
                                 Pair("spec.num_frames", HasSubstr("8k + 1"))));
}

TEST(Error, ToldOfAUsedQuotaSaysWhoseItIsAndHowMuchIsUsed) {
  const absl::Status status = MakeOverQuota(Reason::kTenantQuota, "tenant:a", "Too many files",
                                            {.value = 16, .limit = 8}, absl::Seconds(1));
  EXPECT_EQ(status.message(), "Too many files: 16, the limit is 8");
  EXPECT_EQ(ReasonOf(status), Reason::kTenantQuota);
  EXPECT_EQ(RetryAfterOf(status), absl::Seconds(1));
  const absl::Status full = MakeOverQuota(Reason::kStoreFull, "server", "Full", {8, 8});
  EXPECT_EQ(RetryAfterOf(full), std::nullopt);
  EXPECT_THAT(SerializeError(full), ::testing::HasSubstr("server"));
}

TEST(Error, StaysBelowWhatSurvivesAsMetadata) {
  std::vector<model::FieldViolation> many;
  for (int i = 0; i < 500; ++i) {
    many.push_back({absl::StrCat("spec.conditions[", i, "].strength"), std::string(300, 'x')});
  }
  const absl::Status status = MakeInvalid(Reason::kInvalidSpec, many);
  EXPECT_LE(SerializeError(status).size(), 4096u);
  const google::rpc::Status wire = Parsed(status);
  EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(wire).reason(), "INVALID_SPEC");
  EXPECT_EQ(wire.code(), static_cast<int>(absl::StatusCode::kInvalidArgument));

  ErrorDetails details;
  details.metadata["value"] = std::string(100000, 'y');
  EXPECT_LE(SerializeError(MakeError(Reason::kInternal, std::string(100000, 'z'), details)).size(),
            4096u);
}

TEST(Error, ForeignStatusesHaveNoReason) {
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), std::nullopt);
  EXPECT_EQ(ReasonOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(RetryAfterOf(absl::UnavailableError("x")), std::nullopt);
  EXPECT_FALSE(ParseError("not a status \xff\xff").ok());
}

TEST(WithNote, SaysMoreAndLosesNothing) {
  ErrorDetails details;
  details.metadata = {{"limit", "4"}};
  details.retry_after = absl::Seconds(3);
  const absl::Status error = MakeError(Reason::kQueueFull, "The queue is full", details);
  const absl::Status noted = WithNote(error, "; this holds for video 2", {{"place", "2"}});
  EXPECT_EQ(noted.message(), "The queue is full; this holds for video 2");
  EXPECT_EQ(noted.code(), error.code());
  EXPECT_EQ(ReasonOf(noted), Reason::kQueueFull);
  EXPECT_EQ(RetryAfterOf(noted), absl::Seconds(3));
  google::rpc::Status proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeError(noted)));
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(proto.details(0).UnpackTo(&info));
  EXPECT_EQ(info.metadata().at("limit"), "4");
  EXPECT_EQ(info.metadata().at("place"), "2");
}

}  // namespace
}  // namespace reel
