// SPDX-License-Identifier: Apache-2.0
// A server that is alone, over a log of its own: it does at once what others would be waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "server/front/objects/file_store.h"
#include "server/front/store/sqlite.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

class LoneNodeTest : public ::testing::Test {
 protected:
  LoneNodeTest() : member_(unused_, serializer_, "alone") {
    member_.has_own_log = true;
    Begin();
  }
  void Begin() {
    member_.Kill();
    auto store = FileStore::Open(member_.folder.File("objects"), ops_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    member_.objects = store_.get();
    member_.Begin(/*with_worker=*/true, /*alone=*/false);
  }
  // Half a minute of real time at most; of the server's clock so much passes.
  template <typename Condition>
  bool ComesWithin(absl::Duration limit, Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    while (!condition() && absl::Now() < end) {
      const absl::Duration step = std::min(limit, kTick);
      limit -= step;
      member_.Pass(step);
      member_.Settle();
    }
    return condition();
  }
  template <typename Condition>
  bool ComesAtOnce(Condition condition) {
    return ComesWithin(absl::ZeroDuration(), condition);
  }
  // Asks for a video, and waits until a worker has it.
  JobPtr Run() {
    JobPtr job = member_.MustAsk(member_.Request());
    EXPECT_TRUE(ComesAtOnce([&] { return member_.pool.num_waiting() > 0; }));
    return job;
  }

  static constexpr absl::Duration kTick = absl::Milliseconds(100);

  FileOps ops_;
  std::unique_ptr<FileStore> store_;
  reel::testing::MemoryLog unused_;
  reel::testing::MemorySerializer serializer_;
  Member member_;
};

TEST_F(LoneNodeTest, ClaimsAndEndsAVideoWhileNoTimePasses) {
  const JobPtr job = Run();
  member_.RunToEnd(member_.Take());
  EXPECT_TRUE(ComesAtOnce([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_EQ(member_.StateOf(job->Snapshot().id), VideoState::kSucceeded);
}

TEST_F(LoneNodeTest, TakesBackItsOwnWithoutASilence) {
  const std::string id = Run()->Snapshot().id;
  member_.Take();
  Begin();
  ASSERT_TRUE(ComesWithin(3 * kTick, [&] { return member_.pool.num_waiting() > 0; }));
  member_.RunToEnd(member_.Take());
  EXPECT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ((*member_.Get(id))->attempt(), AttemptOf(2));
}

TEST_F(LoneNodeTest, DeniesAnUnknownVideoAtOnceAndIsNoFleet) {
  EXPECT_EQ(ReasonOf(member_.Get("prod-0123456789abcdef").status()), Reason::kVideoNotFound);
  EXPECT_FALSE(member_.service->Fleet().has_value());
  EXPECT_EQ(member_.service->Problem(), "");
}

TEST_F(LoneNodeTest, TellsThatItsDiskIsFull) {
  ASSERT_TRUE(member_.service->view()
                  .Append([](Database& db, FleetView::Messages&) {
                    return db.Execute("PRAGMA max_page_count = 1");  // what there is
                  })
                  .ok());
  absl::Status refused;
  for (int i = 0; i < 500 && refused.ok(); ++i) refused = member_.Ask(member_.Request()).status();
  EXPECT_EQ(ReasonOf(refused), Reason::kStoreFull) << refused;
}

// Others may have taken what a node of a fleet had.
TEST_F(LoneNodeTest, KeepsWhatItHasAfterAPause) {
  const JobPtr job = Run();
  member_.Pass(absl::Minutes(1));
  member_.RunToEnd(member_.Take());
  EXPECT_TRUE(ComesAtOnce([&] { return job->state() == VideoState::kSucceeded; }));
  EXPECT_EQ(job->attempt(), 1);
}

TEST_F(LoneNodeTest, AnswersARequestIdWithItsVideoAlsoAfterARestart) {
  const std::string request_id = "6f1f6f0e-5a0c-4a8e-9a57-0d3c0f6b1a2d";
  const std::string id = member_.MustAsk(RequestWithId(request_id))->Snapshot().id;
  EXPECT_EQ(member_.MustAsk(RequestWithId(request_id))->Snapshot().id, id);
  Begin();
  EXPECT_EQ(member_.MustAsk(RequestWithId(request_id))->Snapshot().id, id);
  EXPECT_EQ(ReasonOf(member_.Ask(RequestWithId(request_id, "another")).status()),
            Reason::kRequestIdConflict);
}

TEST_F(LoneNodeTest, KeepsPicturesInItsFolderAndResultsWhereTheyAre) {
  const std::string id = member_.MustAsk(WithPicture(member_, "pixels"))->Snapshot().id;
  ASSERT_TRUE(ComesAtOnce([&] { return member_.pool.num_waiting() > 0; }));
  member_.Take();
  Begin();
  ASSERT_TRUE(ComesWithin(3 * kTick, [&] { return member_.pool.num_waiting() > 0; }));
  const Sent sent = member_.Take();
  ASSERT_EQ(sent.assignment.spec.conditions.size(), 1U);
  ASSERT_NE(sent.assignment.spec.conditions[0].bytes, nullptr);
  EXPECT_EQ(*sent.assignment.spec.conditions[0].bytes, "pixels");
  member_.RunToEnd(sent);
  EXPECT_TRUE(ComesAtOnce([&] { return member_.StateOf(id) == VideoState::kSucceeded; }));
  EXPECT_EQ(store_->List("", "")->objects.size(), 1U);  // the picture
  EXPECT_TRUE((*member_.Get(id))->ReadMedia(0, 10).ok());
}

}  // namespace
}  // namespace reel::front
