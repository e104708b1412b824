// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/front/store/data_folder.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class StrayFilesTest : public ::testing::Test {
 protected:
  StrayFilesTest() {
    std::filesystem::create_directory(temp_.File("media"));
    std::filesystem::create_directory(temp_.File("conditions"));
  }
  void Write(const std::string& name, size_t bytes) {
    std::ofstream(temp_.File(name)) << std::string(bytes, 'x');
  }
  bool Kept(const std::string& name) { return temp_.Has("quarantine/" + name); }

  reel::testing::TempFolder temp_;
};

TEST_F(StrayFilesTest, MakesNothingWhileThereIsNone) {
  StrayFiles strays(temp_.path());
  ASSERT_TRUE(strays.Open(kNow).ok());
  ASSERT_TRUE(strays.Take("media/not there", kNow).ok());
  EXPECT_EQ(strays.bytes(), 0);
  EXPECT_FALSE(temp_.Has("quarantine"));
}

TEST_F(StrayFilesTest, KeepsAFileForAWeekFromItsComing) {
  Write("media/a.1.mp4", 5);
  {
    StrayFiles strays(temp_.path());
    ASSERT_TRUE(strays.Open(kNow).ok());
    ASSERT_TRUE(strays.Take("media/a.1.mp4", kNow).ok());
    EXPECT_FALSE(temp_.Has("media/a.1.mp4"));
    EXPECT_EQ(strays.bytes(), 5);
  }
  StrayFiles again(temp_.path());
  ASSERT_TRUE(again.Open(kNow + StrayFiles::kKept - absl::Seconds(1)).ok());
  EXPECT_EQ(again.bytes(), 5);
  EXPECT_TRUE(Kept("media/a.1.mp4"));
  ASSERT_TRUE(again.Open(kNow + StrayFiles::kKept).ok());
  EXPECT_EQ(again.bytes(), 0);
  EXPECT_FALSE(Kept("media/a.1.mp4"));
}

TEST_F(StrayFilesTest, GivesAFileBack) {
  Write("conditions/a.0", 5);
  StrayFiles strays(temp_.path());
  ASSERT_TRUE(strays.Take("conditions/a.0", kNow).ok());
  strays.GiveBack("conditions/b.0");
  strays.GiveBack("conditions/a.0");
  EXPECT_TRUE(temp_.Has("conditions/a.0"));
  EXPECT_EQ(strays.bytes(), 0);
}

TEST_F(StrayFilesTest, FreesTheOldestFirstAndNoMoreThanIsNeeded) {
  StrayFiles strays(temp_.path());
  for (const int day : {2, 0, 1}) {
    const std::string name = "media/" + std::to_string(day);
    Write(name, 10);
    ASSERT_TRUE(strays.Take(name, kNow + day * absl::Hours(24)).ok());
  }
  strays.Free(0);
  EXPECT_EQ(strays.bytes(), 30);
  strays.Free(11);
  EXPECT_FALSE(Kept("media/0"));
  EXPECT_FALSE(Kept("media/1"));
  EXPECT_TRUE(Kept("media/2"));
  strays.Free(1000);
  EXPECT_EQ(strays.bytes(), 0);
}

}  // namespace
}  // namespace reel::front
