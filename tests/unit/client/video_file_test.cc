// SPDX-License-Identifier: Apache-2.0
#include "client/video_file.h"

#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"

namespace reel::client {
namespace {

v1::MediaInfo Info(const std::string& content) {
  v1::MediaInfo info;
  info.set_size_bytes(static_cast<int64_t>(content.size()));
  info.set_sha256(Sha256Hex(content));
  return info;
}

class VideoFileTest : public ::testing::Test {
 protected:
  VideoFile Open(PartFile::Mode mode) { return std::move(*VideoFile::Open(path_, mode)); }

  const reel::testing::TempFolder folder_;
  const std::string path_ = folder_.File("out.mp4");
};

TEST_F(VideoFileTest, AppearsWhenItIsTheServersFile) {
  VideoFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  ASSERT_TRUE(file.Commit(Info("abc")).ok());
  EXPECT_EQ(folder_.Read("out.mp4"), "abc");
}

TEST_F(VideoFileTest, RefusesWrongBytesAndKeepsThePart) {
  for (const char* wrong : {"abd", "ab", ""}) {
    VideoFile file = Open(PartFile::Mode::kFresh);
    ASSERT_TRUE(file.Append(wrong).ok());
    EXPECT_EQ(file.Commit(Info("abc")).code(), absl::StatusCode::kDataLoss);
    EXPECT_FALSE(folder_.Has("out.mp4"));
    EXPECT_TRUE(folder_.Has("out.mp4.part"));
  }
}

TEST_F(VideoFileTest, HashesWhatAnEarlierOneHeld) {
  {
    ASSERT_TRUE(Open(PartFile::Mode::kFresh).Append("abc").ok());
  }
  VideoFile file = Open(PartFile::Mode::kResume);
  EXPECT_EQ(file.size(), 3);
  ASSERT_TRUE(file.Append("de").ok());
  EXPECT_TRUE(file.Commit(Info("abcde")).ok());
}

TEST_F(VideoFileTest, HashesAnewAfterRestart) {
  VideoFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("of the first attempt").ok());
  ASSERT_TRUE(file.Restart().ok());
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_TRUE(file.Commit(Info("abc")).ok());
}

}  // namespace
}  // namespace reel::client
