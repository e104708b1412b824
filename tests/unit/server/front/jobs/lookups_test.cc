// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

class LookupsTest : public ::testing::Test, public Harness {
 protected:
  void SetUp() override {
    Start();
    AddWorker();
  }
  ListPage List(ListQuery query) {
    auto page =
        Await<ListPage>([&](auto done) { dispatcher->List(std::move(query), std::move(done)); });
    EXPECT_TRUE(page.ok()) << page.status();
    return *std::move(page);
  }
};

TEST_F(LookupsTest, AnotherTenantsVideoLooksLikeAnUnknownOne) {
  JobPtr live = MustCreate(Request());
  const std::string live_id = live->Snapshot().id;
  EXPECT_TRUE(Find(live_id).ok());
  const absl::Status theirs = Find(live_id, "u").status();
  EXPECT_EQ(ReasonOf(theirs), Reason::kVideoNotFound);
  EXPECT_EQ(theirs.message(), absl::StrCat("No such video: videos/", live_id));
  RunToEnd(Take());
  WaitForState(*live, VideoState::kSucceeded);
  Settle();
  EXPECT_TRUE(Find(live_id).ok());
  EXPECT_EQ(Find(live_id, "u").status(), theirs);
}

TEST_F(LookupsTest, ListsFromEitherEnd) {
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(MustCreate(Request())->Snapshot().id);
    clock.Advance(absl::Seconds(1));
  }
  Settle();
  ListQuery query;
  query.reach.tenant = "t";
  query.oldest_first = true;
  query.page_size = 2;
  const ListPage page = List(query);
  ASSERT_EQ(page.videos.size(), 2u);
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.videos[0].id, ids[0]);
  EXPECT_EQ(page.videos[1].id, ids[1]);
  query.before_time = page.videos[1].create_time;
  query.before_id = page.videos[1].id;
  ASSERT_EQ(List(query).videos.size(), 1u);
  EXPECT_EQ(List(query).videos[0].id, ids[2]);
}

TEST_F(LookupsTest, ADamagedRecordCostsItselfAndNotTheList) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    JobPtr job = MustCreate(Request());
    ids.push_back(job->Snapshot().id);
    clock.Advance(absl::Seconds(1));
    RunToEnd(Take());
    WaitForState(*job, VideoState::kSucceeded);
  }
  Settle();
  for (const int damaged : {0, 2, 3}) {
    auto row = **Await<std::optional<JobRow>>(
        [&](auto done) { store->Find(ids[static_cast<size_t>(damaged)], std::move(done)); });
    row.video = "nonsense";
    ASSERT_TRUE(AwaitStatus([&](auto done) {
                  store->Update(row, Durability::kSynced, std::move(done));
                }).ok());
  }
  ListQuery query;
  query.reach.tenant = "t";
  EXPECT_EQ(List(query).videos.size(), 2u);
  // A page of which nothing is left is no end.
  query.page_size = 1;
  ListPage page = List(query);
  ASSERT_EQ(page.videos.size(), 1u);
  EXPECT_EQ(page.videos[0].id, ids[4]);
  query.before_time = page.videos[0].create_time;
  query.before_id = page.videos[0].id;
  page = List(query);
  ASSERT_EQ(page.videos.size(), 1u);
  EXPECT_EQ(page.videos[0].id, ids[1]);
  const absl::Status error = Find(ids[2]).status();
  EXPECT_EQ(ReasonOf(error), Reason::kMediaCorrupt);
  EXPECT_THAT(SerializeError(error), ::testing::HasSubstr("videos/" + ids[2]));
  EXPECT_TRUE(Delete(ids[2]).ok());
}

TEST_F(LookupsTest, ListsNewestFirstAndByState) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    JobPtr job = MustCreate(Request());
    ids.push_back(job->Snapshot().id);
    clock.Advance(absl::Seconds(1));
    if (i == 3) {
      ASSERT_TRUE(Cancel(ids[3]).ok());
      CancelledAtWorker(Take());
    } else {
      RunToEnd(Take());
    }
    WaitForEnd(*job);
  }
  Settle();
  ListQuery query;
  query.reach.tenant = "t";
  query.page_size = 3;
  ListPage page = List(query);
  ASSERT_EQ(page.videos.size(), 3u);
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.videos[0].id, ids[4]);
  EXPECT_EQ(page.videos[1].id, ids[3]);
  EXPECT_EQ(page.videos[1].state, VideoState::kCancelled);
  EXPECT_EQ(page.videos[2].tenant, "t");
  query.before_time = page.videos.back().create_time;
  query.before_id = page.videos.back().id;
  page = List(query);
  ASSERT_EQ(page.videos.size(), 2u);
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.videos[1].id, ids[0]);

  ListQuery filtered;
  filtered.reach.tenant = "t";
  filtered.states = {VideoState::kCancelled};
  page = List(filtered);
  ASSERT_EQ(page.videos.size(), 1u);
  EXPECT_EQ(page.videos[0].id, ids[3]);
  filtered.reach.tenant = "u";
  EXPECT_TRUE(List(filtered).videos.empty());
}

TEST_F(LookupsTest, AnAdminSeesAndDeletesThoseOfAllTenants) {
  const Reach admin = {"admins", true};
  const auto find = [&](const std::string& id) {
    return Await<JobPtr>([&](auto done) { dispatcher->Find(admin, id, std::move(done)); });
  };
  NewJob other = Request();
  other.tenant = "u";
  const JobPtr mine = MustCreate(Request());
  RunToEnd(Take());
  WaitForState(*mine, VideoState::kSucceeded);
  clock.Advance(absl::Seconds(1));
  const JobPtr live = MustCreate(other);
  Settle();
  const std::string stored = mine->Snapshot().id, running = live->Snapshot().id;
  EXPECT_EQ((*find(stored))->Snapshot().tenant, "t");
  EXPECT_EQ((*find(running))->Snapshot().tenant, "u");
  EXPECT_EQ(ReasonOf(find("r0-unknown").status()), Reason::kVideoNotFound);
  ListQuery query;
  query.reach = admin;
  query.page_size = 1;
  ListPage page = List(query);
  ASSERT_EQ(page.videos.size(), 1u);
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.videos[0].id, running);
  query.before_time = page.videos[0].create_time;
  query.before_id = running;
  page = List(query);
  ASSERT_EQ(page.videos.size(), 1u);
  EXPECT_EQ(page.videos[0].id, stored);
  query.reach.everybodys = false;
  EXPECT_TRUE(List(query).videos.empty());

  const auto remove = [&](const Reach& reach) {
    return AwaitStatus([&](auto done) { dispatcher->Delete(reach, stored, std::move(done)); });
  };
  EXPECT_EQ(ReasonOf(remove({"admins"})), Reason::kVideoNotFound);
  EXPECT_TRUE(remove(admin).ok());
  EXPECT_EQ(ReasonOf(Find(stored).status()), Reason::kVideoNotFound);
}

TEST_F(LookupsTest, ShowsModelsWorkersAndProfiles) {
  ASSERT_EQ(dispatcher->Models().size(), 2u);
  EXPECT_EQ(dispatcher->Models()[1].card.name, "late");
  EXPECT_FALSE(dispatcher->Models()[1].has_card);
  EXPECT_TRUE(dispatcher->Models()[0].is_default);
  EXPECT_TRUE(dispatcher->Models()[0].ready);
  ASSERT_EQ(dispatcher->Workers().size(), 1u);
  EXPECT_EQ(dispatcher->Workers()[0].models, std::vector<std::string>{"card"});
  EXPECT_TRUE(dispatcher->admitting());
  MustCreate(Request());
  Take();
  EXPECT_EQ(dispatcher->Running("w0"), 1);
  EXPECT_EQ(dispatcher->Running("unknown"), 0);
  dispatcher->WorkerLost("w0", LossCause::kKilled);
  dispatcher->Flush();
  EXPECT_FALSE(dispatcher->admitting());
  EXPECT_FALSE(dispatcher->Models()[0].ready);
  EXPECT_THAT(dispatcher->KernelProfiles(), ::testing::Contains("reference"));
}

}  // namespace
}  // namespace reel::front
