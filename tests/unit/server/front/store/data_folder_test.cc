// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

TEST(DataFolder, RefusesASecondOwnerWithAClearText) {
  reel::testing::TempFolder temp;
  auto first = DataFolder::Open(temp.path());
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = DataFolder::Open(temp.path());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), ::testing::HasSubstr("another reeld"));
}

TEST(DataFolder, IsFreeAgainWhenItsOwnerGoes) {
  reel::testing::TempFolder temp;
  {
    auto first = DataFolder::Open(temp.path());
    ASSERT_TRUE(first.ok());
    DataFolder moved = *std::move(first);
  }
  EXPECT_TRUE(DataFolder::Open(temp.path()).ok());
}

TEST(DataFolder, IsForItsOwnerAlone) {
  reel::testing::TempFolder temp;
  const std::string path = temp.path() + "/deep/er";
  auto folder = DataFolder::Open(path);
  ASSERT_TRUE(folder.ok()) << folder.status();
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(std::filesystem::is_directory(path + "/media"));
  EXPECT_TRUE(std::filesystem::is_directory(path + "/conditions"));
}

TEST(DataFolder, SaysWhenItCannotBeMade) { EXPECT_FALSE(DataFolder::Open("/proc/nowhere").ok()); }

}  // namespace
}  // namespace reel::front
