// SPDX-License-Identifier: Apache-2.0
// Tenants: what they may see, and their limits of jobs, device time, bytes, and of the queue that
// all share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"

namespace reel::tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kMaxBytes = 60'000;

class Quota : public Conformance {
 protected:
  Service& service() {
    std::string lines;
    for (const char* const tenant : {"anna", "jobs", "time", "bytes"}) {
      lines += Sha256Hex(tenant) + " " + tenant + " user\n";
    }
    lines += Sha256Hex("root") + " root admin\n";
    const std::string tokens = folder_.Write("tokens", lines);
    ::chmod(tokens.c_str(), 0600);
    return Shared(
        {.step_ms = 10,
         .more = absl::StrCat("scheduler { max_queued_jobs: 6 fill_rows: 1 } auth { tokens_file: '",
                              tokens,
                              "' tenants { name: 'anna' } tenants { name: 'root' }"
                              " tenants { name: 'jobs' max_jobs: 2 }"
                              " tenants { name: 'time' device_seconds_per_hour: 0.3 }"
                              " tenants { name: 'bytes' max_stored_bytes: ",
                              kMaxBytes, " } }")});
  }
  // Its token is its name.
  Caller Of(const std::string& tenant) { return Caller(service().server(), tenant); }
  static void EndAll(Caller& caller, const std::vector<std::string>& names) {
    for (const std::string& name : names) EXPECT_TRUE(caller.Cancel(name).ok());
    for (const std::string& name : names) caller.Await(name);
  }

  static inline testing::TempFolder folder_;
};

TEST_P(Quota, ATenantSeesItsOwnAndAnAdminSeesAll) {
  Caller anna = Of("anna"), other = Of("jobs"), root = Of("root");
  const std::string id = NewRequestId();
  const std::string name = anna.Create(SmallSpec("x"), id).video.name();
  const v1::Video video = anna.Await(name);
  EXPECT_EQ(other.Get(name).reason(), "VIDEO_NOT_FOUND");
  EXPECT_EQ(other.Cancel(name).reason(), "VIDEO_NOT_FOUND");
  EXPECT_EQ(ReasonOf(other.Delete(name)), "VIDEO_NOT_FOUND");
  EXPECT_THAT(other.Names(), Not(Contains(name)));
  EXPECT_EQ(root.Get(name).video.SerializeAsString(), video.SerializeAsString());
  EXPECT_THAT(root.Names(), Contains(name));
  // A request id is its tenant's.
  const std::string own = other.Create(SmallSpec("y"), id).video.name();
  EXPECT_NE(own, name);
  other.Await(own);
  EXPECT_EQ(Of("nobody").Get(name).reason(), "UNAUTHENTICATED");
  EXPECT_EQ(Of("").Get(name).reason(), "UNAUTHENTICATED");
  const std::string running = anna.Create(Steps("x", 100)).video.name();
  EXPECT_TRUE(root.Cancel(running).ok());
  EXPECT_EQ(anna.Await(running).state(), v1::VIDEO_STATE_CANCELLED);
  EXPECT_TRUE(root.Delete(name).ok());
  EXPECT_EQ(anna.Get(name).reason(), "VIDEO_NOT_FOUND");
}

TEST_P(Quota, OfJobsIsFreeAgainWhenOneEnds) {
  Caller caller = Of("jobs");
  std::vector<std::string> live;
  for (int i = 0; i < 2; ++i) live.push_back(caller.Create(Steps("x", 100)).video.name());
  const Answer refused = caller.Create(SmallSpec("x"));
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.reason(), "TENANT_QUOTA");
  EndAll(caller, {live[0]});
  const Answer taken = caller.Create(SmallSpec("x"));
  EXPECT_TRUE(taken.ok()) << taken.status.error_message();
  EndAll(caller, {live[1], taken.video.name()});
}

TEST_P(Quota, OfDeviceTimeCountsWhatWasBilled) {
  Caller caller = Of("time");
  double billed = 0, last = 0;
  Answer answer;
  for (int i = 0; i < 20 && (answer = caller.Create(Steps("x", 10))).ok(); ++i) {
    const v1::Video video = caller.Await(answer.video.name());
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    billed += last = video.stats().device_seconds();
  }
  EXPECT_EQ(answer.reason(), "TENANT_QUOTA") << answer.status.error_message();
  EXPECT_GT(billed, 0.1);
  EXPECT_LT(billed - last, 0.3);
}

TEST_P(Quota, OfBytesIsFreeAgainAfterADeletion) {
  Caller caller = Of("bytes");
  std::vector<std::string> names;
  int64_t bytes = 0;
  Answer answer;
  for (uint64_t i = 0; i < 40 && (answer = caller.Create(SmallSpec("x", i))).ok(); ++i) {
    names.push_back(answer.video.name());
    const v1::Video video = caller.Await(names.back());
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
    bytes += video.media().size_bytes();
  }
  EXPECT_EQ(answer.reason(), "TENANT_QUOTA");
  EXPECT_THAT(answer.status.error_message(), HasSubstr(absl::StrCat("of ", kMaxBytes, " allowed")));
  EXPECT_GT(bytes, 0);
  EXPECT_LE(bytes, kMaxBytes);
  for (const std::string& name : names) EXPECT_TRUE(caller.Delete(name).ok());
  EXPECT_TRUE(Eventually([&] { return (answer = caller.Create(SmallSpec("x"))).ok(); }));
  EXPECT_EQ(caller.Await(answer.video.name()).state(), v1::VIDEO_STATE_SUCCEEDED);
}

TEST_P(Quota, AFullQueueRefusesAndOneThatEndsMakesRoom) {
  Caller caller = Of("anna");
  std::vector<std::string> live;
  Answer answer;
  while (live.size() < 20 && (answer = caller.Create(Steps("x", 100))).ok()) {
    live.push_back(answer.video.name());
  }
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(answer.reason(), "QUEUE_FULL");
  EXPECT_GE(live.size(), 6U);
  EXPECT_LT(live.size(), 20U);
  EndAll(caller, live);
  answer = caller.Create(SmallSpec("x"));
  EXPECT_TRUE(answer.ok()) << answer.status.error_message();
  EXPECT_EQ(caller.Await(answer.video.name()).state(), v1::VIDEO_STATE_SUCCEEDED);
}

REEL_EVERY_LIFE(Quota);

}  // namespace
}  // namespace reel::tests
