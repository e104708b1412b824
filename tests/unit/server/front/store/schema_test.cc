// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "server/front/store/job_store.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

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
