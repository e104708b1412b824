// SPDX-License-Identifier: Apache-2.0
#include "client/error_details.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "tests/fakes/refusal.h"

namespace reel::client {
namespace {

absl::Status Received(const fakes::Refusal& refusal) {
  return MakeStatus(refusal.status.code(), refusal.status.message(),
                    refusal.status.SerializeAsString());
}

TEST(ErrorDetails, HoldsEveryKindThatTheServerSends) {
  fakes::Refusal refusal = fakes::MakeRefusal(3, "INVALID_SPEC", "The request is invalid.");
  fakes::AddViolation(refusal, "spec.width", "Width must be a multiple of 32.");
  fakes::AddViolation(refusal, "spec.height", "Height must be a multiple of 32.");
  fakes::AddRetryInfo(refusal, 1500);
  google::rpc::QuotaFailure quota;
  quota.add_violations()->set_subject("tenant:default");
  quota.mutable_violations(0)->set_description("16 jobs at most.");
  refusal.status.add_details()->PackFrom(quota);
  google::rpc::ResourceInfo resource;
  resource.set_resource_name("videos/abc");
  refusal.status.add_details()->PackFrom(resource);

  const absl::Status status = Received(refusal);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "The request is invalid.");
  const ErrorDetails details = DetailsOf(status);
  EXPECT_EQ(details.reason, "INVALID_SPEC");
  EXPECT_EQ(details.domain, "reel");
  ASSERT_EQ(details.violations.size(), 2u);
  EXPECT_EQ(details.violations[1].field, "spec.height");
  EXPECT_EQ(details.violations[1].description, "Height must be a multiple of 32.");
  EXPECT_EQ(details.retry_after, absl::Milliseconds(1500));
  ASSERT_EQ(details.failures.size(), 1u);
  EXPECT_EQ(details.failures[0], "tenant:default: 16 jobs at most.");
  EXPECT_EQ(details.resource_name, "videos/abc");
}

TEST(ErrorDetails, IsEmptyForAStatusOfTheTransport) {
  const ErrorDetails details = DetailsOf(MakeStatus(14, "Connection reset by peer", ""));
  EXPECT_TRUE(details.reason.empty());
  EXPECT_FALSE(details.retry_after.has_value());
}

TEST(ErrorDetails, SurvivesDamagedBytes) {
  const absl::Status status = MakeStatus(13, "A fault.", "\xFF\xFFnot a message");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "A fault.");
  EXPECT_TRUE(DetailsOf(status).reason.empty());
}

}  // namespace
}  // namespace reel::client
