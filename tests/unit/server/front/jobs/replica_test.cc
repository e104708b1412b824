// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/video_id.h"
#include "server/front/store/sqlite.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;

class ReplicaTest : public ::testing::Test, public Harness {
 protected:
  std::string FinishOne() {
    AddWorker();
    JobPtr job = MustCreate(Request());
    RunToEnd(Take());
    const std::string id = WaitForState(*job, VideoState::kSucceeded).id;
    Settle();
    return id;
  }
  // As the version before this one left it: every video is of "r0", and nothing says so.
  void GoBackToVersionTwo() {
    dispatcher.reset();
    media.reset();
    store.reset();
    auto database = Database::Open(folder.path() + "/reel.db");
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)
                    ->Execute("DELETE FROM blobs WHERE kind = 'replica'; PRAGMA user_version = 2")
                    .ok());
  }
};

TEST_F(ReplicaTest, IsDrawnOnceAndKeptInTheDataFolder) {
  Start();
  const std::string drawn = dispatcher->ReplicaName();
  EXPECT_THAT(drawn, ::testing::MatchesRegex("[a-z]{6}"));
  const std::string id = FinishOne();
  EXPECT_EQ(ReplicaOf(id), drawn);
  Start();
  EXPECT_EQ(dispatcher->ReplicaName(), drawn);
  EXPECT_TRUE(Find(id).ok());
  Harness other;
  other.Start();
  EXPECT_NE(other.dispatcher->ReplicaName(), drawn);
}

TEST_F(ReplicaTest, AnotherReplicasVideoIsToldFromAnUnknownOne) {
  options.replica = "lab1";
  Start();
  const std::string theirs = NewVideoId("lab2");
  for (const absl::Status& error : {Find(theirs).status(), Delete(theirs)}) {
    EXPECT_EQ(ReasonOf(error), Reason::kWrongReplica);
    EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(error.message()), HasSubstr("replica lab2"));
    EXPECT_THAT(std::string(error.message()), HasSubstr("this is replica lab1"));
  }
  EXPECT_EQ(ReasonOf(Find(NewVideoId("lab1")).status()), Reason::kVideoNotFound);
  EXPECT_EQ(ReasonOf(Find("lab2").status()), Reason::kVideoNotFound);
}

TEST_F(ReplicaTest, AnotherTenantsVideoStaysAnUnknownOneUnderEveryNameThatWasOurs) {
  options.replica = "lab1";
  Start();
  const std::string before = FinishOne();
  options.replica = "lab2";
  Start();
  const std::string now = FinishOne();
  for (const std::string& id : {before, now}) {
    EXPECT_TRUE(Find(id).ok()) << id;
    const absl::Status theirs = Find(id, "u").status();
    EXPECT_EQ(ReasonOf(theirs), Reason::kVideoNotFound);
    EXPECT_EQ(theirs.message(), absl::StrCat("No such video: videos/", id));
    const std::string unknown = NewVideoId(std::string(ReplicaOf(id)));
    EXPECT_EQ(Find(unknown).status().message(), absl::StrCat("No such video: videos/", unknown));
    EXPECT_EQ(ReasonOf(Find(unknown).status()), Reason::kVideoNotFound);
  }
}

TEST_F(ReplicaTest, TheDrawnNameComesBackWhenNoneIsConfigured) {
  Start();
  const std::string drawn = dispatcher->ReplicaName();
  options.replica = "lab";
  Start();
  EXPECT_EQ(dispatcher->ReplicaName(), "lab");
  options.replica.clear();
  Start();
  EXPECT_EQ(dispatcher->ReplicaName(), drawn);
}

TEST_F(ReplicaTest, VideosOfTheVersionBeforeKeepTheirNames) {
  options.replica = "r0";
  Start();
  const std::string finished = FinishOne();
  GoBackToVersionTwo();
  options.replica.clear();
  Start();
  EXPECT_NE(dispatcher->ReplicaName(), "r0");
  EXPECT_EQ((*Find(finished))->Snapshot().state, VideoState::kSucceeded);
  EXPECT_EQ(ReasonOf(Find(NewVideoId("r0")).status()), Reason::kVideoNotFound);
  EXPECT_TRUE(Delete(finished).ok());
  EXPECT_EQ(ReasonOf(Find(finished).status()), Reason::kVideoNotFound);
}

}  // namespace
}  // namespace reel::front
