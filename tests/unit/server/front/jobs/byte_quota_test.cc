// SPDX-License-Identifier: Apache-2.0
// A limit of bytes is a limit: of what is stored, of what runs, and of what was sent along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "server/errors/error.h"
#include "server/front/jobs/tenant_ledger.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class ByteQuotaTest : public ::testing::Test, public Harness {
 protected:
  void Begin(int64_t limit) {
    options.tenants["t"].max_stored_bytes = limit;
    Start();
    AddWorker();
  }
  NewJob WithPicture(size_t bytes) {
    NewJob request = Request();
    request.spec.conditions.resize(1);
    request.spec.conditions[0].bytes = std::make_shared<const std::string>(bytes, 'p');
    return request;
  }
  // So that their size is known.
  void RenderOne(int64_t bytes) {
    JobPtr job = MustCreate(Request());
    RunToEnd(Take(), std::string(static_cast<size_t>(bytes), 'v'));
    WaitForState(*job, VideoState::kSucceeded);
    ASSERT_TRUE(Delete(job->Snapshot().id).ok());
  }
};

TEST_F(ByteQuotaTest, FortyAtOnceStoreNoMoreThanIsAllowed) {
  Begin(1000);
  RenderOne(100);
  std::vector<JobPtr> admitted;
  for (int i = 0; i < 40; ++i) {
    const auto created = Create(Request());
    if (created.ok()) {
      admitted.push_back(*created);
    } else {
      EXPECT_EQ(ReasonOf(created.status()), Reason::kTenantQuota);
    }
  }
  EXPECT_GE(admitted.size(), 6u);
  EXPECT_LE(admitted.size(), 10u);
  // Each comes out larger than was thought.
  for (size_t i = 0; i < admitted.size(); ++i) RunToEnd(Take(), std::string(200, 'v'));
  int64_t stored = 0;
  for (const JobPtr& job : admitted) stored += WaitForEnd(*job).media.size_bytes;
  // One that fails makes room for the next at once.
  EXPECT_GE(stored, 600);
  EXPECT_LE(stored, 1000);
  Settle();
  EXPECT_LE(media->Usage().stored_bytes, 1000);
}

TEST_F(ByteQuotaTest, AFileThatOutgrowsTheLimitEndsItsVideoAndLeavesNothing) {
  Begin(1000);
  JobPtr job = MustCreate(Request());
  const Sent sent = Take();
  Progress(sent, model::Stage::kDecode, 10);
  Media(sent, 0, std::string(600, 'v'));
  Settle();
  EXPECT_EQ(job->media_size(), 600);
  Media(sent, 600, std::string(600, 'v'));
  const Video failed = WaitForState(*job, VideoState::kFailed);
  EXPECT_EQ(ReasonOf(failed.error), Reason::kTenantQuota);
  EXPECT_THAT(std::string(failed.error.message()), ::testing::HasSubstr("1200"));
  Settle();
  EXPECT_EQ(pool.cancelled().size(), 1u);  // its worker stops
  CancelledAtWorker(sent);
  Settle();
  Settle();
  EXPECT_EQ(media->Usage().stored_bytes, 0);
  // Another of its kind would come to the same end, and does not begin.
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kTenantQuota);
}

TEST_F(ByteQuotaTest, AnEndGivesBackWhatWasReserved) {
  Begin(1000);
  JobPtr first = MustCreate(Request());  // of unknown size: all that is left
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kTenantQuota);
  ASSERT_TRUE(Cancel(first->Snapshot().id).ok());
  WaitForState(*first, VideoState::kCancelled);
  JobPtr second = MustCreate(Request());
  CancelledAtWorker(Take());
  RunToEnd(Take(), std::string(100, 'v'));
  WaitForState(*second, VideoState::kSucceeded);
  EXPECT_TRUE(Create(Request()).ok());  // 100 of 1000
}

TEST_F(ByteQuotaTest, PicturesCountWhileTheirVideoNeedsThem) {
  Begin(1000);
  RenderOne(100);
  JobPtr job = MustCreate(WithPicture(700));
  EXPECT_EQ(ReasonOf(Create(WithPicture(100)).status()), Reason::kTenantQuota);
  RunToEnd(Take(), std::string(100, 'v'));
  WaitForState(*job, VideoState::kSucceeded);
  EXPECT_TRUE(Create(WithPicture(700)).ok());
}

TEST_F(ByteQuotaTest, ANewProcessCountsWhatItTakesUp) {
  Begin(1000);
  RenderOne(100);
  const NewJob request = WithPicture(700);
  const Video video = MustCreate(request)->Snapshot();
  Settle();
  Start();
  AddWorker();
  Settle();
  EXPECT_EQ(media->Usage().stored_bytes, 0);
  ASSERT_TRUE(Adopt({video, 2, 2, {request.spec.conditions[0].bytes}}).ok());
  Settle();
  EXPECT_EQ(ReasonOf(Create(WithPicture(100)).status()), Reason::kTenantQuota);
  EXPECT_EQ(media->Usage().stored_bytes, 700);
}

TEST_F(ByteQuotaTest, OtherTenantsAreNotTouched) {
  Begin(1000);
  MustCreate(Request());
  NewJob other = Request();
  other.tenant = "u";
  EXPECT_TRUE(Create(other).ok());
}

}  // namespace
}  // namespace reel::front
