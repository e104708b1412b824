// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/sqlite.h"

#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

class DatabaseFilesTest : public ::testing::Test {
 protected:
  void Make(const std::string& name) {
    for (const char* const part : {"", "-wal", "-shm"}) temp_.Write(name + part, part);
  }
  bool HasAny(const std::string& name) const {
    return temp_.Has(name) || temp_.Has(name + "-wal") || temp_.Has(name + "-shm");
  }
  reel::testing::TempFolder temp_;
};

TEST_F(DatabaseFilesTest, ARemovedDatabaseLeavesNothing) {
  Make("a.db");
  Make("b.db");
  RemoveDatabase(temp_.File("a.db"));
  RemoveDatabase(temp_.File("a.db"));  // also where there is none
  EXPECT_FALSE(HasAny("a.db"));
  EXPECT_TRUE(HasAny("b.db"));
}

TEST_F(DatabaseFilesTest, ARenamedDatabaseKeepsWhatLiesBesideIt) {
  Make("a.db");
  ASSERT_TRUE(RenameDatabase(temp_.File("a.db"), temp_.File("b.db")).ok());
  EXPECT_FALSE(HasAny("a.db"));
  EXPECT_EQ(temp_.Read("b.db-wal"), "-wal");
  EXPECT_EQ(temp_.Read("b.db-shm"), "-shm");
  // One that was closed has nothing beside it.
  temp_.Write("c.db", "");
  EXPECT_TRUE(RenameDatabase(temp_.File("c.db"), temp_.File("d.db")).ok());
  EXPECT_TRUE(temp_.Has("d.db"));
  EXPECT_TRUE(absl::IsNotFound(RenameDatabase(temp_.File("none"), temp_.File("e.db"))));
}

}  // namespace
}  // namespace reel::front
