// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "server/front/store/job_rows.h"
#include "server/front/store/job_store.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

std::map<std::string, std::string> BlobsOf(JobStore& store, const std::string& kind) {
  const auto blobs = reel::testing::Await<std::map<std::string, std::string>>(
      [&](auto done) { store.Blobs(kind, std::move(done)); });
  return blobs.ok() ? *blobs : std::map<std::string, std::string>();
}

TEST(Schema, RefusesANewerFileAndSaysWhich) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  ASSERT_TRUE(OpenJobStore(path).ok());
  {
    auto database = Database::Open(path);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 7").ok());
  }
  const auto opened = OpenJobStore(path);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), ::testing::HasSubstr("version 7"));
}

TEST(Schema, TakesAFileOfVersionOneOver) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  ASSERT_TRUE(OpenJobStore(path).ok());
  {
    auto database = Database::Open(path);
    ASSERT_TRUE(database.ok());
    // As it was before the sums of blocks.
    ASSERT_TRUE((*database)
                    ->Execute("ALTER TABLE jobs DROP COLUMN block_sums; PRAGMA user_version = 1;"
                              "INSERT INTO jobs VALUES ('old', 't', NULL, 'h', 2, 1, 0, 0, 5, 9, "
                              "1000, 7, 3, x'', x'00')")
                    .ok());
  }
  auto store = OpenJobStore(path);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto row = reel::testing::Await<std::optional<JobRow>>(
      [&](auto done) { (*store)->Find("old", std::move(done)); });
  ASSERT_TRUE(row.ok() && row->has_value());
  EXPECT_EQ((*row)->media_bytes, 3);
  EXPECT_TRUE((*row)->block_sums.empty());
  EXPECT_EQ(BlobsOf(**store, "replica").count("r0"), 1u);
}

TEST(Schema, GivesAnOlderFileTheIndexesThatItLacks) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  ASSERT_TRUE(OpenJobStore(path).ok());
  const auto count = [&path] {
    auto database = Database::Open(path);
    return *(*database)->QueryInt(
        "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'jobs'");
  };
  const int64_t whole = count();
  {
    auto database = Database::Open(path);
    ASSERT_TRUE((*database)->Execute("DROP INDEX jobs_by_time").ok());
  }
  ASSERT_EQ(count(), whole - 1);
  ASSERT_TRUE(OpenJobStore(path).ok());
  EXPECT_EQ(count(), whole);
}

// The tables of version 2, as that version wrote them.
constexpr char kVersionTwo[] = R"sql(
PRAGMA journal_mode = WAL;
CREATE TABLE jobs (id TEXT NOT NULL PRIMARY KEY, tenant TEXT NOT NULL, request_id TEXT,
  spec_hash TEXT NOT NULL, state INTEGER NOT NULL, attempt INTEGER NOT NULL,
  bound INTEGER NOT NULL, num_conditions INTEGER NOT NULL, create_time INTEGER NOT NULL,
  expire_time INTEGER, reserved_sequence INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
  media_bytes INTEGER NOT NULL, fragment_ends BLOB NOT NULL, video BLOB NOT NULL,
  block_sums BLOB NOT NULL DEFAULT x'');
CREATE UNIQUE INDEX jobs_by_request ON jobs (tenant, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX jobs_by_age ON jobs (tenant, create_time, id);
CREATE INDEX jobs_live ON jobs (create_time) WHERE state < 2;
CREATE INDEX jobs_by_expiry ON jobs (expire_time) WHERE expire_time IS NOT NULL;
CREATE TABLE restarts (job TEXT NOT NULL, sequence INTEGER NOT NULL, time INTEGER NOT NULL,
  reason TEXT NOT NULL, attempt INTEGER NOT NULL, PRIMARY KEY (job, sequence)) WITHOUT ROWID;
CREATE TABLE tombstones (tenant TEXT NOT NULL, request_id TEXT NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY (tenant, request_id)) WITHOUT ROWID;
CREATE TABLE blobs (kind TEXT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (kind, name)) WITHOUT ROWID;
PRAGMA user_version = 2;
INSERT INTO jobs VALUES ('r0-abcdefghijklmnopqrstuvwxyz', 't', 'q', 'h', 2, 1, 0, 0, 5, 9, 1000, 7,
  3, x'', x'00', x'01000000');
INSERT INTO tombstones VALUES ('t', 'gone', 99);
INSERT INTO blobs VALUES ('card', 'c', x'2A');
)sql";

TEST(Schema, TakesAFileOfVersionTwoOverWithItsReplica) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  {
    auto database = Database::Open(path);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE((*database)->Execute(kVersionTwo).ok());
  }
  for (int opened = 0; opened < 2; ++opened) {
    auto store = OpenJobStore(path);
    ASSERT_TRUE(store.ok()) << store.status();
    const auto row = reel::testing::Await<std::optional<JobRow>>(
        [&](auto done) { (*store)->Find("r0-abcdefghijklmnopqrstuvwxyz", std::move(done)); });
    ASSERT_TRUE(row.ok() && row->has_value());
    EXPECT_EQ((*row)->request_id, "q");
    EXPECT_EQ((*row)->spec_hash, "h");
    EXPECT_EQ((*row)->block_sums, std::vector<uint32_t>{1});
    EXPECT_EQ(BlobsOf(**store, "card").size(), 1u);
    // Every server of that version called its videos so.
    EXPECT_EQ(BlobsOf(**store, "replica").count("r0"), 1u);
  }
}

TEST(Schema, ANewFileHasNoReplicaYet) {
  reel::testing::TempFolder temp;
  auto store = OpenJobStore(temp.path() + "/reel.db");
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE(BlobsOf(**store, "replica").empty());
}

TEST(Schema, OpensItsOwnFileAgain) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  ASSERT_TRUE(OpenJobStore(path).ok());
  EXPECT_TRUE(OpenJobStore(path).ok());
}

TEST(Schema, RefusesAFileThatIsNoDatabase) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_EQ(OpenJobStore(path).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Schema, KeepsTheFileForItsOwnerAlone) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/reel.db";
  ASSERT_TRUE(OpenJobStore(path).ok());
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace reel::front
