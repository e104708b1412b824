// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class ExpiryTest : public ::testing::Test, public Harness {
 protected:
  std::string Render() {
    JobPtr job = MustCreate(Request());
    RunToEnd(Take(), "0123456789");
    const std::string id = WaitForState(*job, VideoState::kSucceeded).id;
    Settle();
    return id;
  }
  // Expiry is looked for every few seconds.
  void Reap() {
    for (int i = 0; i < 6; ++i) AdvanceAndPoke(absl::Seconds(2));
  }
  bool Exists(const std::string& id) {
    return std::filesystem::exists(folder.path() + "/media/" + id + ".1.mp4");
  }
};

TEST_F(ExpiryTest, FinishedVideosGoAfterTheirTime) {
  Start();
  AddWorker();
  const std::string id = Render();
  clock.Advance(options.keep - absl::Minutes(1));
  Reap();
  EXPECT_TRUE(Find(id).ok());
  clock.Advance(absl::Minutes(1));
  Reap();
  EXPECT_EQ(ReasonOf(Find(id).status()), Reason::kVideoNotFound);
  EXPECT_FALSE(Exists(id));
  EXPECT_EQ(media->Usage().stored_bytes, 0);
}

TEST_F(ExpiryTest, FailedOnesGoSooner) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  ASSERT_TRUE(Cancel(id).ok());
  WaitForState(*job, VideoState::kCancelled);
  Settle();
  EXPECT_TRUE(Find(id).ok());
  clock.Advance(options.keep_failed);
  Reap();
  EXPECT_FALSE(Find(id).ok());
}

TEST_F(ExpiryTest, AFullStoreTakesJobsAgainWhenSomethingHasExpired) {
  max_bytes = 10;
  Start();
  AddWorker();
  const std::string id = Render();
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kStoreFull);
  clock.Advance(options.keep);
  EXPECT_TRUE(Create(Request()).ok());  // room is made before it is refused
  EXPECT_FALSE(Exists(id));
}

TEST_F(ExpiryTest, AFullStoreTakesJobsAgainAfterADelete) {
  max_bytes = 10;
  Start();
  AddWorker();
  const std::string id = Render();
  EXPECT_FALSE(Create(Request()).ok());
  ASSERT_TRUE(Delete(id).ok());
  EXPECT_TRUE(Create(Request()).ok());
}

TEST_F(ExpiryTest, DeletesFinalVideosOnly) {
  Start();
  AddWorker();
  JobPtr job = MustCreate(Request());
  const std::string id = job->Snapshot().id;
  EXPECT_EQ(ReasonOf(Delete(id)), Reason::kVideoNotFinal);
  EXPECT_EQ(ReasonOf(Delete(id, "u")), Reason::kVideoNotFound);
  RunToEnd(Take());
  WaitForState(*job, VideoState::kSucceeded);
  Settle();
  EXPECT_EQ(ReasonOf(Delete(id, "u")), Reason::kVideoNotFound);
  EXPECT_TRUE(Delete(id).ok());
  EXPECT_EQ(ReasonOf(Delete(id)), Reason::kVideoNotFound);
  EXPECT_FALSE(Exists(id));
  // Who reads it goes on reading.
  EXPECT_EQ(ReasonOf(Find(id).status()), Reason::kVideoNotFound);
}

TEST_F(ExpiryTest, AReaderKeepsADeletedFile) {
  Start();
  AddWorker();
  const std::string id = Render();
  JobPtr job = *Find(id);
  EXPECT_EQ(job->ReadMedia(0, 4)->bytes, "0123");
  ASSERT_TRUE(Delete(id).ok());
  EXPECT_EQ(job->ReadMedia(4, 100)->bytes, "456789");
}

TEST_F(ExpiryTest, WhoHasReadNothingOfADeletedVideoGetsNotFound) {
  Start();
  AddWorker();
  JobPtr live = MustCreate(Request());
  RunToEnd(Take());
  const std::string id = WaitForState(*live, VideoState::kSucceeded).id;
  Settle();
  JobPtr found = *Find(id);
  ASSERT_TRUE(Delete(id).ok());
  EXPECT_EQ(ReasonOf(live->ReadMedia(0, 4).status()), Reason::kVideoNotFound);
  EXPECT_EQ(ReasonOf(found->ReadMedia(0, 4).status()), Reason::kVideoNotFound);
}

TEST_F(ExpiryTest, WhoHasReadNothingOfAnExpiredVideoGetsNotFound) {
  Start();
  AddWorker();
  JobPtr found = *Find(Render());
  clock.Advance(options.keep);
  Reap();
  EXPECT_EQ(ReasonOf(found->ReadMedia(0, 4).status()), Reason::kVideoNotFound);
}

TEST_F(ExpiryTest, AVideoThatIsBeingDeletedIsNotFound) {
  Start();
  AddWorker();
  const std::string id = Render();
  std::promise<absl::Status> deleted;
  dispatcher->Delete({"t"}, id, [&](absl::Status status) { deleted.set_value(std::move(status)); });
  const auto found = Find(id);  // asks the store while the file is on its way out
  EXPECT_TRUE(deleted.get_future().get().ok());
  EXPECT_EQ(ReasonOf(found.status()), Reason::kVideoNotFound);
}

TEST_F(ExpiryTest, AFileThatNobodyDeletedIsStillDamage) {
  Start();
  AddWorker();
  const std::string id = Render();
  JobPtr found = *Find(id);
  ASSERT_TRUE(std::filesystem::remove(folder.path() + "/media/" + id + ".1.mp4"));
  EXPECT_EQ(ReasonOf(found->ReadMedia(0, 4).status()), Reason::kMediaCorrupt);
}

TEST_F(ExpiryTest, ATenantsStoredBytesAreCounted) {
  options.tenants["t"].max_stored_bytes = 10;
  Start();
  AddWorker();
  const std::string id = Render();
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kTenantQuota);
  Start();  // also by the next process
  AddWorker();
  EXPECT_EQ(ReasonOf(Create(Request()).status()), Reason::kTenantQuota);
  ASSERT_TRUE(Delete(id).ok());
  EXPECT_TRUE(Create(Request()).ok());
}

}  // namespace
}  // namespace reel::front
