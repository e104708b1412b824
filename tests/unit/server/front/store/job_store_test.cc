// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/job_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/front/store/sqlite.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::reel::testing::Await;
using ::reel::testing::AwaitStatus;
using ::testing::ElementsAre;

JobRow MakeRow(const std::string& id, int64_t second, const std::string& tenant = "t") {
  JobRow row;
  row.id = id;
  row.tenant = tenant;
  row.create_time = absl::FromUnixSeconds(second);
  row.video = absl::StrCat("video of ", id, std::string("\0\1", 2));
  return row;
}

class JobStoreTest : public ::testing::Test {
 protected:
  JobStoreTest() : store_(*OpenJobStore(":memory:")) {}

  absl::Status Create(JobRow row) {
    return AwaitStatus([&](auto done) { store_->Create(std::move(row), std::move(done)); });
  }
  absl::Status Update(JobRow row) {
    return AwaitStatus(
        [&](auto done) { store_->Update(std::move(row), Durability::kSynced, std::move(done)); });
  }
  absl::Status Remove(const std::string& id) {
    return AwaitStatus([&](auto done) { store_->Remove(id, std::move(done)); });
  }
  std::optional<JobRow> Find(const std::string& id) {
    return *Await<std::optional<JobRow>>([&](auto done) { store_->Find(id, std::move(done)); });
  }
  std::vector<std::string> Page(PageQuery query) {
    const auto rows =
        Await<std::vector<JobRow>>([&](auto done) { store_->Page(query, std::move(done)); });
    std::vector<std::string> ids;
    for (const JobRow& row : *rows) ids.push_back(row.id);
    return ids;
  }

  std::unique_ptr<JobStore> store_;
};

TEST_F(JobStoreTest, GivesBackWhatItWasGiven) {
  JobRow row = MakeRow("a", 5);
  row.num_conditions = 2;
  ASSERT_TRUE(Create(row).ok());
  row.state = VideoState::kSucceeded;
  row.attempt = 2;
  row.expire_time = absl::FromUnixSeconds(99);
  row.last_sequence = 1234;
  row.media_bytes = 30;
  row.fragment_ends = {10, 20, 30};
  row.block_sums = {7, 0xFFFFFFFF};
  row.restarts = {{17, absl::FromUnixNanos(1'500'000'001), "WORKER_LOST", 2}};
  ASSERT_TRUE(Update(row).ok());

  const auto found = Find("a");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->video, row.video);
  EXPECT_EQ(found->state, VideoState::kSucceeded);
  EXPECT_EQ(found->attempt, 2);
  EXPECT_EQ(found->num_conditions, 2);
  EXPECT_EQ(found->create_time, absl::FromUnixSeconds(5));
  EXPECT_EQ(found->expire_time, absl::FromUnixSeconds(99));
  EXPECT_EQ(found->last_sequence, 1234u);
  EXPECT_EQ(found->media_bytes, 30);
  EXPECT_THAT(found->fragment_ends, ElementsAre(10, 20, 30));
  EXPECT_THAT(found->block_sums, ElementsAre(7, 0xFFFFFFFF));
  ASSERT_EQ(found->restarts.size(), 1u);
  EXPECT_EQ(found->restarts[0].reason, "WORKER_LOST");
  EXPECT_EQ(found->restarts[0].time, absl::FromUnixNanos(1'500'000'001));
}

TEST_F(JobStoreTest, FindsNothingForAnUnknownId) { EXPECT_FALSE(Find("x").has_value()); }

TEST_F(JobStoreTest, AddsRestartsOnce) {
  JobRow row = MakeRow("a", 1);
  ASSERT_TRUE(Create(row).ok());
  row.restarts = {{5, absl::FromUnixSeconds(1), "X", 2}};
  ASSERT_TRUE(Update(row).ok());
  row.restarts.push_back({9, absl::FromUnixSeconds(2), "Y", 3});
  ASSERT_TRUE(Update(row).ok());
  EXPECT_EQ(Find("a")->restarts.size(), 2u);
}

TEST_F(JobStoreTest, AnIdIsOneRows) {
  EXPECT_TRUE(Create(MakeRow("a", 1)).ok());
  EXPECT_EQ(Create(MakeRow("a", 2)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(Create(MakeRow("b", 2)).ok());
}

TEST_F(JobStoreTest, ARemovedRowIsGoneWithItsRestarts) {
  JobRow row = MakeRow("a", 1);
  row.restarts = {{5, absl::FromUnixSeconds(1), "X", 2}};
  ASSERT_TRUE(Create(row).ok());
  ASSERT_TRUE(Remove("a").ok());
  EXPECT_FALSE(Find("a").has_value());
  ASSERT_TRUE(Create(MakeRow("a", 1)).ok());
  EXPECT_TRUE(Find("a")->restarts.empty());
}

TEST_F(JobStoreTest, PagesNewestFirstWithoutGapsOrRepeats) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Create(MakeRow(absl::StrCat("j", i), i / 2)).ok());
  ASSERT_TRUE(Create(MakeRow("other", 9, "u")).ok());
  PageQuery query{"t", {}, absl::InfiniteFuture(), "", 2};
  EXPECT_THAT(Page(query), ElementsAre("j4", "j3"));
  query.before_id = "j3";
  query.before_time = absl::FromUnixSeconds(1);
  EXPECT_THAT(Page(query), ElementsAre("j2", "j1"));
  query.before_id = "j1";
  query.before_time = absl::FromUnixSeconds(0);
  EXPECT_THAT(Page(query), ElementsAre("j0"));
}

TEST_F(JobStoreTest, PagesThroughAllTenants) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Create(MakeRow(absl::StrCat("j", i), i, i % 2 == 0 ? "t" : "u")).ok());
  }
  PageQuery query{std::nullopt, {}, absl::InfiniteFuture(), "", 3};
  EXPECT_THAT(Page(query), ElementsAre("j3", "j2", "j1"));
  query.before_id = "j1";
  query.before_time = absl::FromUnixSeconds(1);
  EXPECT_THAT(Page(query), ElementsAre("j0"));
}

TEST_F(JobStoreTest, PagesFromTheOldest) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Create(MakeRow(absl::StrCat("j", i), i / 2, i % 2 == 0 ? "t" : "u")).ok());
  }
  for (const bool of_all : {true, false}) {
    PageQuery query;
    query.oldest_first = true;
    query.limit = 3;
    if (!of_all) query.tenant = "t";
    EXPECT_EQ(Page(query), of_all ? (std::vector<std::string>{"j0", "j1", "j2"})
                                  : (std::vector<std::string>{"j0", "j2"}));
    query.before_id = "j1";
    query.before_time = absl::FromUnixSeconds(0);
    EXPECT_EQ(Page(query),
              of_all ? (std::vector<std::string>{"j2", "j3"}) : (std::vector<std::string>{"j2"}));
  }
}

// Of videos that are not shown nothing is read, whoever asks.
TEST_F(JobStoreTest, APageOfAllTenantsCostsWhatOneTenantsDoes) {
  constexpr int kRows = 4000, kTenants = 40, kPages = 21;
  for (int i = 0; i < kRows; ++i) {
    JobRow row = MakeRow(absl::StrCat("j", i), i, absl::StrCat("tenant", i % kTenants));
    row.video.resize(1000, 'x');
    if (i + 1 < kRows) {
      store_->Create(std::move(row), [](const absl::Status&) {});
    } else {
      ASSERT_TRUE(Create(std::move(row)).ok());
    }
  }
  const auto median = [this](PageQuery query) {
    query.limit = 20;
    std::vector<absl::Duration> took;
    for (int i = 0; i < kPages; ++i) {
      const absl::Time begin = absl::Now();
      EXPECT_EQ(Page(query).size(), 20u);
      took.push_back(absl::Now() - begin);
    }
    std::sort(took.begin(), took.end());
    return took[kPages / 2];
  };
  PageQuery one, all, oldest;
  one.tenant = "tenant7";
  oldest.oldest_first = true;
  const absl::Duration alone = median(one);
  EXPECT_LT(median(all), 4 * alone);
  EXPECT_LT(median(oldest), 4 * alone);
}

TEST_F(JobStoreTest, FiltersAPageByState) {
  JobRow done = MakeRow("done", 1), failed = MakeRow("failed", 2);
  ASSERT_TRUE(Create(done).ok());
  ASSERT_TRUE(Create(failed).ok());
  ASSERT_TRUE(Create(MakeRow("queued", 3)).ok());
  done.state = VideoState::kSucceeded;
  failed.state = VideoState::kFailed;
  ASSERT_TRUE(Update(done).ok());
  ASSERT_TRUE(Update(failed).ok());
  PageQuery query{"t", {VideoState::kSucceeded}, absl::InfiniteFuture(), "", 50};
  EXPECT_THAT(Page(query), ElementsAre("done"));
  query.states = {VideoState::kQueued, VideoState::kFailed};
  EXPECT_THAT(Page(query), ElementsAre("queued", "failed"));
}

TEST_F(JobStoreTest, TellsLiveAndExpiredApart) {
  JobRow old = MakeRow("old", 1), fresh = MakeRow("fresh", 2), running = MakeRow("running", 3);
  for (const JobRow& row : {old, fresh, running}) ASSERT_TRUE(Create(row).ok());
  ASSERT_TRUE(Create(MakeRow("queued", 4)).ok());
  old.state = fresh.state = VideoState::kSucceeded;
  old.expire_time = absl::FromUnixSeconds(10);
  fresh.expire_time = absl::FromUnixSeconds(20);
  running.state = VideoState::kRunning;
  for (const JobRow& row : {old, fresh, running}) ASSERT_TRUE(Update(row).ok());

  const auto expired = *Await<std::vector<JobRow>>(
      [&](auto done) { store_->Expired(absl::FromUnixSeconds(10), 10, std::move(done)); });
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].id, "old");
  const auto live = *Await<std::vector<JobRow>>([&](auto done) { store_->Live(std::move(done)); });
  ASSERT_EQ(live.size(), 2u);
  EXPECT_EQ(live[0].id, "running");
  EXPECT_EQ(live[1].id, "queued");
}

TEST_F(JobStoreTest, ListsTheFilesThatBelongToSomebody) {
  JobRow row = MakeRow("a", 1);
  ASSERT_TRUE(Create(row).ok());
  row.state = VideoState::kSucceeded;
  row.attempt = 3;
  row.media_bytes = 77;
  ASSERT_TRUE(Update(row).ok());
  const auto files =
      *Await<std::vector<StoredFile>>([&](auto done) { store_->Files(std::move(done)); });
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(files[0].finished);
  EXPECT_EQ(files[0].attempt, 3);
  EXPECT_EQ(files[0].media_bytes, 77);
}

TEST_F(JobStoreTest, KeepsBlobsByKindAndName) {
  store_->PutBlob("card", "m", std::string("\0x", 2));
  store_->PutBlob("card", "m", "new");
  store_->PutBlob("costs", "m", "other");
  const auto cards = *Await<std::map<std::string, std::string>>(
      [&](auto done) { store_->Blobs("card", std::move(done)); });
  EXPECT_EQ(cards, (std::map<std::string, std::string>{{"m", "new"}}));
}

// What waits is committed together: the answers of a batch come after its commit, and one that
// fails takes nothing of the others with it.
TEST_F(JobStoreTest, AFailureInABatchIsItsOwn) {
  ASSERT_TRUE(Create(MakeRow("a", 1)).ok());
  auto answers = std::make_shared<reel::testing::Promised<int>>();
  auto failed = std::make_shared<int>(0);
  constexpr int kJobs = 50;
  for (int i = 0; i < kJobs; ++i) {
    const bool taken = i % 10 == 0;
    store_->Create(MakeRow(taken ? "a" : absl::StrCat("n", i), 2),
                   [failed](absl::Status status) { *failed += status.ok() ? 0 : 1; });
  }
  store_->Find("a", [answers, failed](auto) { answers->Give(*failed); });
  EXPECT_EQ(answers->Take(), 5);
  EXPECT_TRUE(Find("n1").has_value());
  EXPECT_FALSE(Find("n10").has_value());
}

TEST_F(JobStoreTest, FinishesWhatWasCalledBeforeItGoes) {
  auto done = std::make_shared<reel::testing::Promised<bool>>();
  store_->Create(MakeRow("a", 1), [done](absl::Status status) { done->Give(status.ok()); });
  store_.reset();
  EXPECT_EQ(done->Take(), true);
}

}  // namespace
}  // namespace reel::front
