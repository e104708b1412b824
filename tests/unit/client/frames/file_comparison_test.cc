// SPDX-License-Identifier: Apache-2.0
#include "client/frames/file_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/worker/media/ffmpeg.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;

class CompareFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!worker::HaveFfmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  }
  // The path of a clip; another `filter` makes other pictures.
  std::string Clip(const std::string& name, int frames, const std::string& filter = "null") {
    return folder_.Write(
        name,
        worker::MakeWithFfmpeg(absl::StrCat("-f lavfi -i testsrc2=size=96x64:rate=25 -vf ", filter,
                                            " -frames:v ", frames, " -c:v libx264 -qp 0"),
                               ".mp4"));
  }

  const testing::TempFolder folder_;
};

TEST_F(CompareFilesTest, FindsNoDifferenceBetweenAFileAndItself) {
  const std::string clip = Clip("a.mp4", 5);
  const auto same = CompareFiles(clip, clip);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->distance.frames(), 5);
  EXPECT_TRUE(std::isinf(same->distance.psnr_db()));
  EXPECT_EQ(same->distance.ssim(), 1);
  EXPECT_EQ(same->sheet.width, 5 * 96 + 4 * 4);
  EXPECT_EQ(same->sheet.height, 3 * 64 + 2 * 4);
}

// More frames than are held at a time, of which one beyond the first window differs.
TEST_F(CompareFilesTest, ComparesEachFrameWithItsOwn) {
  const std::string plain = Clip("a.mp4", 70);
  const std::string marked =
      Clip("b.mp4", 70, "\"drawbox=x=0:y=0:w=96:h=64:color=white:t=fill:enable='eq(n,50)'\"");
  const auto one = CompareFiles(plain, marked);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->distance.frames(), 70);
  EXPECT_GT(one->distance.psnr_db(), 10);
  EXPECT_LT(one->distance.psnr_db(), 30);
  EXPECT_GT(one->distance.ssim(), 0.97);
  EXPECT_LT(one->distance.ssim(), 1);
}

TEST_F(CompareFilesTest, SaysWhatTheVideosDoNotHaveInCommon) {
  const std::string clip = Clip("a.mp4", 5);
  EXPECT_THAT(CompareFiles(clip, Clip("b.mp4", 6)).status().message(),
              HasSubstr("have 5 and 6 frames"));
  EXPECT_THAT(CompareFiles(clip, Clip("c.mp4", 5, "scale=64:64")).status().message(),
              HasSubstr("96x64 and 64x64"));
}

TEST_F(CompareFilesTest, NamesTheFileThatCannotBeRead) {
  const std::string clip = Clip("a.mp4", 5), none = folder_.File("none.mp4");
  EXPECT_EQ(CompareFiles(clip, none).status().message(), "cannot read " + none);
  const std::string broken = folder_.Write("b.mp4", "no video");
  EXPECT_THAT(CompareFiles(broken, clip).status().message(), HasSubstr(broken + " is not an MP4"));
}

}  // namespace
}  // namespace reel::client
