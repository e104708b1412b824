// SPDX-License-Identifier: Apache-2.0
#include "client/frames/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;

class OverviewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  }
  std::string Clip(const std::string& name, int frames, const std::string& colour) {
    return folder_.Write(name, worker::MakeWithFfmpeg(absl::StrCat("-f lavfi -i color=", colour,
                                                                   ":size=96x64:rate=25 -frames:v ",
                                                                   frames, " -c:v libx264 -qp 0"),
                                                      ".mp4"));
  }

  const testing::TempFolder folder_;
};

TEST_F(OverviewTest, HasARowForEachVideoAndAColumnForEachFrameShown) {
  const auto sheet = DrawOverview({Clip("a.mp4", 9, "black"), Clip("b.mp4", 9, "red"),
                                   Clip("c.mp4", 9, "black"), Clip("d.mp4", 9, "black")});
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  EXPECT_EQ(sheet->width, 6 * 96 + 5 * 4);
  EXPECT_EQ(sheet->height, 4 * 64 + 3 * 4);
  const auto red_at = [&](int x, int y) {
    return sheet->pixels[3 * static_cast<size_t>(y * sheet->width + x)];
  };
  EXPECT_LT(red_at(10, 10), 40);
  EXPECT_GT(red_at(10, 64 + 4 + 10), 200) << "the second row is the second video";
  EXPECT_LT(red_at(10, 2 * 68 + 10), 40);
}

TEST_F(OverviewTest, NamesTheFileThatIsNoVideo) {
  const std::string text = folder_.Write("a.txt", "no video");
  EXPECT_THAT(std::string(DrawOverview({Clip("a.mp4", 2, "red"), text}).status().message()),
              HasSubstr(text));
  EXPECT_THAT(std::string(DrawOverview({"nowhere.mp4"}).status().message()),
              HasSubstr("nowhere.mp4"));
}

}  // namespace
}  // namespace reel::client
