// SPDX-License-Identifier: Apache-2.0
// The view's tables: they say what the log says, however it is read and wherever a process ends.
#include "server/front/fleet/view_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/front/fleet/view_queries.h"
#include "server/front/fleet/view_tables.h"
#include "tests/fakes/memory_records.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/fleet/fold_entries.h"
#include "tests/unit/server/front/fleet/random_history.h"

namespace reel::front {
namespace {

using reel::testing::Fold;

namespace fs = std::filesystem;
using Key = FleetState::Key;

// A video's bytes are when it was made and when it expires: "100 160".
class PlainReader final : public VideoReader {
 public:
  VideoFacts ReadFacts(const Key&, const FleetJob& job) const override {
    VideoFacts facts;
    const size_t space = job.video.find(' ');
    facts.readable = space != job.video.npos;
    if (!facts.readable) return facts;
    facts.model = "m";
    facts.work = 10;
    facts.create_time = absl::FromUnixSeconds(std::stoi(job.video));
    facts.expire_time = absl::FromUnixSeconds(std::stoi(job.video.substr(space)));
    facts.end_time = facts.expire_time - absl::Minutes(1);
    facts.device_seconds = HasEnded(job.phase) ? 2 : 0;
    return facts;
  }
};

// One transaction of so many messages.
absl::Status Put(ViewStore& store, const History& history, size_t first, size_t count) {
  const PlainReader reader;
  return store.Change([&](Database& db) -> absl::Status {
    REEL_ASSIGN_OR_RETURN(ViewProgress progress, view_tables::ReadProgress(db));
    StoredRecords records(db);
    ViewBatch batch(records, progress.position, &reader);
    for (size_t i = first; i < first + count; ++i) batch.Fold(history[i]);
    batch.Finish();
    REEL_RETURN_IF_ERROR(records.status());
    REEL_RETURN_IF_ERROR(view_tables::Apply(db, batch));
    progress.position = batch.position();
    return view_tables::WriteProgress(db, progress);
  });
}

FleetState StateOf(ViewStore& store) { return store.Read<FleetState>(view_tables::Dump); }

FleetState StateAt(const History& history, uint64_t position) {
  FleetState state;
  for (const FoldEntry& entry : history) {
    if (entry.sequence <= position) Fold(state, entry);
  }
  return state;
}

class ViewStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<ViewStore> Open(const std::string& file) {
    auto opened = ViewStore::Open(file);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }
  // Entries of several videos, one after the other.
  void PutAll(ViewStore& store, History entries) {
    for (FoldEntry& entry : entries) entry.sequence = ++sequence_;
    ASSERT_TRUE(Put(store, entries, 0, entries.size()).ok());
  }
  static FoldEntry Ask(const std::string& tenant, const std::string& id, int created) {
    return {0, {tenant, id, LogKind::kRequest, 0}, RequestSaid{absl::StrCat(created, " 0")}};
  }
  // Asked for and rendered.
  void Render(ViewStore& store, const std::string& tenant, const std::string& id, int created,
              int expires, FinishKind kind = kDone) {
    FinishSaid said{"n1", kind};
    said.video = absl::StrCat(created, " ", expires);
    PutAll(store, {Ask(tenant, id, created),
                   {0, {tenant, id, LogKind::kClaim, 1}, ClaimSaid{"n1"}},
                   {0, {tenant, id, LogKind::kFinish, 1}, said}});
  }
  static std::vector<std::string> IdsOf(ViewStore& store, const ViewPage& page) {
    std::vector<std::string> ids;
    for (const ViewVideo& video : store.Read<std::vector<ViewVideo>>(
             [&](Database& db) { return view_tables::Page(db, page); })) {
      ids.push_back(video.key.second);
    }
    return ids;
  }

  reel::testing::TempFolder folder_;
  uint64_t sequence_ = 0;
};

using Ids = std::vector<std::string>;

TEST_F(ViewStoreTest, SaysWhatTheLogSaysHoweverItIsBatched) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", history ", i));
    const History history = RandomHistory(random);
    const std::unique_ptr<ViewStore> store =
        i % 2 == 0 ? ViewStore::InMemory() : Open(folder_.File(absl::StrCat("view", i)));
    for (size_t next = 0; next < history.size();) {
      const size_t count = 1 + Below(random, std::min<size_t>(history.size() - next, 40));
      ASSERT_TRUE(Put(*store, history, next, count).ok());
      // Heard again, which is old.
      ASSERT_TRUE(Put(*store, history, Below(random, next + 1), 1).ok());
      next += count;
      ASSERT_EQ(StateOf(*store), StateAt(history, history[next - 1].sequence));
    }
  }
}

// What SIGKILL or the machine's end leaves: the file and any beginning of what was appended to it.
TEST_F(ViewStoreTest, ACrashLeavesPositionAndTablesInAgreement) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  const std::string file = folder_.File("view");
  const std::unique_ptr<ViewStore> store = Open(file);
  const History history = RandomHistory(random);
  uint64_t furthest = 0;
  for (size_t next = 0; next < history.size();) {
    const size_t count = 1 + Below(random, std::min<size_t>(history.size() - next, 8));
    ASSERT_TRUE(Put(*store, history, next, count).ok());
    next += count;
    const std::string crashed = folder_.File(absl::StrCat("crashed", next));
    fs::copy_file(file, crashed);
    fs::copy_file(file + "-wal", crashed + "-wal");
    // The last one is whole, so that one at least has got somewhere.
    if (next < history.size()) {
      fs::resize_file(crashed + "-wal", Below(random, fs::file_size(crashed + "-wal") + 1));
    }
    const std::unique_ptr<ViewStore> left = Open(crashed);
    const FleetState state = StateOf(*left);
    ASSERT_EQ(state, StateAt(history, state.position)) << "seed " << seed;
    furthest = std::max(furthest, state.position);
    // And it goes on from there.
    ASSERT_TRUE(Put(*left, history, 0, next).ok());
    ASSERT_EQ(StateOf(*left), StateOf(*store)) << "seed " << seed;
  }
  EXPECT_GT(furthest, 0U);
}

TEST_F(ViewStoreTest, AChangeThatFailsLeavesNothing) {
  const std::unique_ptr<ViewStore> store = Open(folder_.File("view"));
  Render(*store, "t", "a", 1, 2);
  const FleetState before = StateOf(*store);
  const absl::Status failed = store->Change([](Database& db) -> absl::Status {
    REEL_RETURN_IF_ERROR(view_tables::Clear(db));
    return absl::InternalError("the process is not that far");
  });
  EXPECT_EQ(failed.message(), "the process is not that far");
  EXPECT_EQ(StateOf(*store), before);
}

TEST_F(ViewStoreTest, PagesShowEachVideoOnceInBothDirections) {
  const std::unique_ptr<ViewStore> store = ViewStore::InMemory();
  Ids all;
  for (int i = 0; i < 9; ++i) {
    const std::string id = absl::StrCat("v", i);
    // Of all states, and two of the same second.
    const int created = 100 + i / 2;
    if (i % 3 == 0) PutAll(*store, {Ask("t", id, created)});
    if (i % 3 == 1) Render(*store, "t", id, created, 1000);
    if (i % 3 == 2) Render(*store, "u", id, created, 1000, kBroke);
    all.push_back(id);
  }
  const std::vector<FleetPhase> phases = {FleetPhase::kQueued, FleetPhase::kClaimed,
                                          FleetPhase::kSucceeded, FleetPhase::kFailed};
  for (const bool oldest_first : {false, true}) {
    for (const size_t size : {1, 2, 4, 20}) {
      ViewPage page{"", phases, oldest_first, {}, "", absl::FromUnixSeconds(500), size};
      Ids seen;
      while (true) {
        const auto found = store->Read<std::vector<ViewVideo>>(
            [&](Database& db) { return view_tables::Page(db, page); });
        for (const ViewVideo& video : found) seen.push_back(video.key.second);
        if (found.size() < size) break;
        page.after_time = found.back().facts.create_time;
        page.after_id = found.back().key.second;
      }
      if (!oldest_first) std::reverse(seen.begin(), seen.end());
      EXPECT_EQ(seen, all) << size;
    }
  }
  const ViewPage of_one{"t", phases, true, {}, "", absl::FromUnixSeconds(500), 20};
  EXPECT_EQ(IdsOf(*store, of_one), (Ids{"v0", "v1", "v3", "v4", "v6", "v7"}));
  const ViewPage failed{"u", {FleetPhase::kFailed}, true, {}, "", absl::FromUnixSeconds(500), 2};
  EXPECT_EQ(IdsOf(*store, failed), (Ids{"v2", "v5"}));
}

TEST_F(ViewStoreTest, PagesLeaveOutWhatIsExpiredDeletedOrUnreadable) {
  const std::unique_ptr<ViewStore> store = ViewStore::InMemory();
  Render(*store, "t", "kept", 1, 1000);
  Render(*store, "t", "expired", 2, 499);
  Render(*store, "t", "deleted", 3, 1000);
  PutAll(*store, {{0, {"t", "deleted", LogKind::kDelete, 0}, DeleteSaid{}}});
  PutAll(*store, {{0, {"t", "junk", LogKind::kRequest, 0}, RequestSaid{"junk"}}});
  const ViewPage page{
      "", {FleetPhase::kQueued, FleetPhase::kSucceeded}, false, {}, "", absl::FromUnixSeconds(500),
      10};
  EXPECT_EQ(IdsOf(*store, page), Ids{"kept"});
  const auto deleted = store->Read<std::optional<ViewVideo>>(
      [](Database& db) { return view_tables::FindVideo(db, {"t", "deleted"}); });
  EXPECT_TRUE(deleted->job.deleted && deleted->job.video.empty());
}

TEST_F(ViewStoreTest, WhatHasExpiredLeavesATraceAndTracesGoWithTheLog) {
  const std::unique_ptr<ViewStore> store = ViewStore::InMemory();
  PutAll(*store, {{0, {"t", "r", LogKind::kBinding, 1}, BindingSaid{"late", "hash"}}});
  Render(*store, "t", "late", 1, 100);
  Render(*store, "t", "later", 1, 200, kBroke);
  Render(*store, "t", "kept", 1, 400);
  PutAll(*store, {Ask("t", "waits", 1)});
  const auto forget = [&](int before, int most) {
    ASSERT_TRUE(store
                    ->Change([&](Database& db) {
                      return view_tables::ForgetExpired(db, absl::FromUnixSeconds(before), most);
                    })
                    .ok());
  };
  forget(300, 1);
  FleetState state = StateOf(*store);
  EXPECT_EQ(state.over.size(), 1U);
  EXPECT_EQ(state.over.at({"t", "late"}).phase, FleetPhase::kSucceeded);
  EXPECT_EQ(state.over.at({"t", "late"}).requested, 2U);
  forget(300, 10);
  forget(300, 10);
  state = StateOf(*store);
  EXPECT_EQ(state.over.size(), 2U);
  EXPECT_EQ(state.jobs.size(), 2U);
  EXPECT_EQ(state.bindings.size(), 1U);
  ASSERT_TRUE(store->Change([](Database& db) { return view_tables::ForgetBefore(db, 5); }).ok());
  state = StateOf(*store);
  EXPECT_TRUE(state.bindings.empty());
  EXPECT_EQ(state.over.size(), 1U);
  EXPECT_TRUE(state.over.contains({"t", "later"}));
  EXPECT_EQ(state.jobs.size(), 2U);
}

TEST_F(ViewStoreTest, KeepsBillsAndPacesOverARestart) {
  const std::string file = folder_.File("view");
  {
    const std::unique_ptr<ViewStore> store = Open(file);
    Render(*store, "t", "old", 1, 1000);
    Render(*store, "t", "a", 1, 10'000);
    Render(*store, "u", "b", 1, 10'001, kBroke);
    PutAll(*store, {{0, {"u", "b", LogKind::kDelete, 0}, DeleteSaid{}}});
  }
  const std::unique_ptr<ViewStore> store = Open(file);
  const auto bills = store->Read<std::vector<ViewBill>>(view_tables::LastBills);
  ASSERT_EQ(bills.size(), 2U);
  EXPECT_EQ(bills[0].tenant, "t");
  EXPECT_EQ(bills[0].device_seconds, 2);
  EXPECT_EQ(bills[1].tenant, "u");
  EXPECT_EQ(bills[1].end_time, absl::FromUnixSeconds(9941));
  ModelPace pace;  // of what has a result
  pace.Learn(10, 2);
  pace.Learn(10, 2);
  const auto paces = store->Read<std::map<std::string, ModelPace>>(view_tables::Paces);
  EXPECT_NEAR(paces.at("m").seconds, pace.seconds, 1e-6);
  EXPECT_NEAR(paces.at("m").work, pace.work, 1);
}

TEST_F(ViewStoreTest, AFileThatIsNoViewIsMadeAnew) {
  const std::string junk = folder_.File("junk"), newer = folder_.File("newer");
  folder_.Write("junk", std::string(100'000, 'x'));
  EXPECT_EQ(StateOf(*Open(junk)), FleetState{});
  {
    const std::unique_ptr<ViewStore> store = Open(newer);
    Render(*store, "t", "a", 1, 1000);
    ASSERT_TRUE(
        store->Change([](Database& db) { return db.Execute("PRAGMA user_version = 1000"); }).ok());
  }
  EXPECT_EQ(StateOf(*Open(newer)), FleetState{});
}

TEST_F(ViewStoreTest, CountsOfDisksKeepAnyName) {
  const std::unique_ptr<ViewStore> store = ViewStore::InMemory();
  FleetState expected;
  History entries = {Request()};
  uint32_t epoch = 0;
  for (const std::string node : {"n1", "3 2 x", "", "n1", "a\n b"}) {
    ++epoch;
    entries.push_back(Claim(epoch, node));
    entries.push_back(Finish(epoch, node, kBack));
    std::get<FinishSaid>(entries.back().said).no_room = true;
  }
  PutAll(*store, entries);
  const std::map<std::string, int> counts = {{"n1", 2}, {"3 2 x", 1}, {"", 1}, {"a\n b", 1}};
  EXPECT_EQ(StateOf(*store).jobs.at({"t", "a"}).no_room, counts);
}

// As builds before drafts have made it.
constexpr char kVersion1[] = R"sql(
CREATE TABLE videos_of_1 AS SELECT requested, tenant, id, phase, epoch, begun, owner, address, wish,
  wish_video, deleted, caller_node, last_sequence, object, no_room, readable, locked, create_time,
  end_time, expire_time, device_nanos, video FROM videos;
DROP TABLE videos;
ALTER TABLE videos_of_1 RENAME TO videos;
PRAGMA user_version = 1;
)sql";

TEST(ViewTables, AnEarlierBuildsVideosStayAndHaveNoStates) {
  const reel::testing::TempFolder folder;
  const std::string path = folder.File("log.db");
  {
    const auto db = Database::Open(path);
    ASSERT_TRUE(view_tables::Prepare(**db).ok());
    ASSERT_TRUE((*db)->Execute(kVersion1).ok());
    ASSERT_TRUE((*db)
                    ->Execute("INSERT INTO videos VALUES (1, 't', 'a', 2, 1, 1, 'n', '', NULL, "
                              "x'', 0, '', 3, '', '', 1, 0, 0, 0, 100, 0, x'31')")
                    .ok());
  }
  const auto db = Database::Open(path);
  ASSERT_TRUE(view_tables::Prepare(**db).ok());
  const auto video = view_tables::FindVideo(**db, {"t", "a"});
  ASSERT_TRUE(video.ok() && video->has_value());
  EXPECT_EQ((*video)->job.video, "1");
  EXPECT_EQ((*video)->facts.state_bytes, 0);
  EXPECT_EQ((*video)->facts.source, "");
  EXPECT_TRUE(view_tables::StateBytes(**db, absl::UnixEpoch())->empty());
  EXPECT_TRUE(view_tables::Prepare(**db).ok());
  ASSERT_TRUE((*db)->Execute("PRAGMA user_version = 3").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(view_tables::Prepare(**db)));
}

TEST(ViewTables, CountStatesUntilTheyExpireAndNameTheNewestOfThoseThatGoOn) {
  const auto db = Database::Open(":memory:");
  ASSERT_TRUE(view_tables::Prepare(**db).ok());
  const auto insert = [&](int number, const char* tenant, const char* rest) {
    const std::string sql =
        absl::StrCat("INSERT INTO videos VALUES (", number, ", '", tenant, "', 'v", number,
                     "', 2, 1, 1, 'n', '', NULL, x'', 0, '', 3, '', '', 1, 0, 0, 0, ", rest, ")");
    ASSERT_TRUE((*db)->Execute(sql.c_str()).ok()) << sql;
  };
  // When it expires, its bill and bytes, its source, bytes of its state and when that expires.
  insert(1, "t", "100, 0, x'', '', 7, 50");
  insert(2, "t", "100, 0, x'', '', 8, 100");
  insert(3, "u", "100, 0, x'', '', 9, 100");
  insert(4, "t", "100, 0, x'', 'v1', 0, 0");
  insert(5, "t", "100, 0, x'', 'v1', 0, 0");
  insert(6, "u", "100, 0, x'', 'v1', 0, 0");
  insert(7, "t", "20, 0, x'', 'v1', 0, 0");
  const auto at = [](int nanos) { return absl::FromUnixNanos(nanos); };
  using Bytes = std::map<std::string, int64_t>;
  EXPECT_EQ(*view_tables::StateBytes(**db, at(49)), (Bytes{{"t", 15}, {"u", 9}}));
  EXPECT_EQ(*view_tables::StateBytes(**db, at(50)), (Bytes{{"t", 8}, {"u", 9}}));
  EXPECT_EQ(*view_tables::StateCounts(**db, at(50)), (std::pair<int64_t, int64_t>(2, 1)));
  ASSERT_TRUE((*db)->Execute("UPDATE videos SET deleted = 1 WHERE requested = 2").ok());
  EXPECT_EQ(*view_tables::StateBytes(**db, at(50)), (Bytes{{"u", 9}}));
  EXPECT_EQ(*view_tables::ContinuedBy(**db, {"t", "v1"}, at(50), 9), (Ids{"v5", "v4"}));
  EXPECT_EQ(*view_tables::ContinuedBy(**db, {"t", "v1"}, at(50), 1), (Ids{"v5"}));
  EXPECT_EQ(*view_tables::ContinuedBy(**db, {"u", "v1"}, at(50), 9), (Ids{"v6"}));
  EXPECT_TRUE(view_tables::ContinuedBy(**db, {"t", ""}, at(50), 9)->empty());
}

}  // namespace
}  // namespace reel::front
