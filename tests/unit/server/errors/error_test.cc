// SPDX-License-Identifier: Apache-2.0
#include "server/errors/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace reel::server {
namespace {

using testing::HasSubstr;

google::rpc::Status Wire(const absl::Status& status) {
  google::rpc::Status proto;
  EXPECT_TRUE(proto.ParseFromString(SerializeError(status)));
  return proto;
}

template <typename Message>
Message Detail(const absl::Status& status) {
  Message message;
  for (const auto& any : Wire(status).details()) {
    if (any.UnpackTo(&message)) return message;
  }
  ADD_FAILURE() << Message::descriptor()->full_name() << " is missing";
  return message;
}

TEST(MakeError, TheReasonFixesTheCode) {
  for (const ReasonRow& row : AllReasons()) {
    const absl::Status status = MakeError(row.reason, "What happened");
    EXPECT_EQ(status.code(), row.code);
    EXPECT_EQ(ReasonOf(status), row.reason);
    EXPECT_EQ(Detail<google::rpc::ErrorInfo>(status).domain(), "reel");
  }
}

TEST(MakeError, CarriesWhatTheSituationCallsFor) {
  ErrorDetails details;
  details.metadata["limit"] = "8";
  details.retry_after = absl::Milliseconds(1500);
  details.resource_type = "video";
  details.resource_name = "videos/a";
  details.quota_subject = "tenant:blue";
  details.quota_description = "8 jobs";
  details.precondition_type = "STATE";
  details.precondition_subject = "videos/a";
  details.precondition_description = "must be SUCCEEDED";
  details.violations = {{"spec.width", "must be a multiple of 32"}};
  const absl::Status status = MakeError(Reason::kTenantQuota, "Too many", details);
  EXPECT_EQ(Detail<google::rpc::ErrorInfo>(status).metadata().at("limit"), "8");
  EXPECT_EQ(Detail<google::rpc::RetryInfo>(status).retry_delay().nanos(), 500'000'000);
  EXPECT_EQ(RetryAfterOf(status), absl::Milliseconds(1500));
  EXPECT_EQ(Detail<google::rpc::ResourceInfo>(status).resource_name(), "videos/a");
  EXPECT_EQ(Detail<google::rpc::QuotaFailure>(status).violations(0).subject(), "tenant:blue");
  EXPECT_EQ(Detail<google::rpc::PreconditionFailure>(status).violations(0).type(), "STATE");
  EXPECT_EQ(Detail<google::rpc::BadRequest>(status).field_violations(0).field(), "spec.width");
  EXPECT_EQ(Wire(status).details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
}

TEST(MakeInvalid, NamesTheFirstAndListsAll) {
  const absl::Status status =
      MakeInvalid(Reason::kInvalidSpec, {{"width", "must be even: 33"}, {"height", "is low"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("width: must be even: 33"));
  EXPECT_EQ(Detail<google::rpc::BadRequest>(status).field_violations_size(), 2);
}

TEST(MakeInvalid, SaysHowManyMoreThereAre) {
  std::vector<model::FieldViolation> many;
  for (int i = 0; i < 40; ++i) many.push_back({"f" + std::to_string(i), "is wrong"});
  const auto bad = Detail<google::rpc::BadRequest>(MakeInvalid(Reason::kInvalidSpec, many));
  ASSERT_EQ(bad.field_violations_size(), 17);
  EXPECT_EQ(bad.field_violations(16).description(), "and 24 more");
}

TEST(SerializeError, StaysBelowFourKibibytes) {
  std::vector<model::FieldViolation> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back({std::string(150, 'f'), std::string(5000, 'd')});
  }
  const absl::Status status = MakeInvalid(Reason::kInvalidSpec, many);
  EXPECT_LE(SerializeError(status).size(), 4096U);
  EXPECT_EQ(Detail<google::rpc::ErrorInfo>(status).reason(), "INVALID_SPEC");
  EXPECT_GE(Detail<google::rpc::BadRequest>(status).field_violations_size(), 5);
}

TEST(SerializeError, StaysBelowFourKibibytesForAnyMessageAndMetadata) {
  ErrorDetails details;
  for (int i = 0; i < 100; ++i) details.metadata["key" + std::to_string(i)] = std::string(900, 'v');
  const absl::Status status = MakeError(Reason::kInternal, std::string(50'000, 'm'), details);
  EXPECT_LE(SerializeError(status).size(), 4096U);
  EXPECT_EQ(Detail<google::rpc::ErrorInfo>(status).reason(), "INTERNAL");
}

TEST(ParseError, ComesBackAsItWas) {
  ErrorDetails details;
  details.metadata["step"] = "3";
  details.retry_after = absl::Seconds(2);
  const absl::Status status = MakeError(Reason::kQueueFull, "The queue is full", details);
  EXPECT_EQ(ParseError(SerializeError(status)), status);
  EXPECT_TRUE(ParseError("").ok());
  EXPECT_EQ(ReasonOf(ParseError("\xff\xff")), Reason::kInternal);
}

TEST(ReasonOf, IsNothingForAForeignStatus) {
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), std::nullopt);
  EXPECT_EQ(ReasonOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(RetryAfterOf(absl::InternalError("x")), std::nullopt);
}

}  // namespace
}  // namespace reel::server
