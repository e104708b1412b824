// SPDX-License-Identifier: Apache-2.0
#include "client/save_video.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/client/client_fixture.h"

namespace reel::client {
namespace {

namespace fs = std::filesystem;

class SaveVideoTest : public ClientTest {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "save_video_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder_ + "/out.mp4";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Saved() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void LeavePart(const std::string& bytes) const { std::ofstream(path_ + ".part") << bytes; }

  std::string folder_, path_;
};

TEST_F(SaveVideoTest, WritesTheFileThroughCutsAndRestarts) {
  server_.Play({{.cut_after = 70'000}, {.restart_after = 100'000}});
  const auto video = SaveVideo(client_->Generate(Prompt()), path_);
  ASSERT_TRUE(video.ok()) << video.status();
  EXPECT_EQ(video->state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(Saved(), server_.media());
  EXPECT_FALSE(fs::exists(path_ + ".part"));
}

TEST_F(SaveVideoTest, LeavesNothingOfAVideoThatFailed) {
  server_.Play({{.end = fakes::MakeRefusal(13, "WORKER_LOST", "")}});
  EXPECT_FALSE(SaveVideo(client_->Generate(Prompt()), path_).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SaveVideoTest, LeavesThePartWhenTheConnectionIsLost) {
  server_.Play({{.cut_after = 70'000}});
  for (int i = 0; i < 20; ++i) {
    server_.RefuseNext("WatchVideo", fakes::MakeRefusal(14, "", ""));
  }
  EXPECT_FALSE(SaveVideo(client_->Generate(Prompt(true)), path_).ok());
  EXPECT_EQ(fs::file_size(path_ + ".part"), 131'072u);
  ASSERT_TRUE(SaveDownload(*client_, server_.name(), path_).ok());
  EXPECT_EQ(Saved(), server_.media());
  EXPECT_EQ(server_.asked().downloads.at(0).read_offset(), 131'072);
}

TEST_F(SaveVideoTest, EndsWhenTheObserverSaysSo) {
  const auto video = SaveVideo(client_->Generate(Prompt()), path_, [](const v1::VideoEvent& event) {
    return event.has_media() ? absl::AbortedError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(video.status().code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SaveVideoTest, DownloadsAnewWhenThePartIsOfAnotherFile) {
  for (const size_t size : {1000, 400'000}) {
    LeavePart(std::string(size, 'x'));
    const auto media = SaveDownload(*client_, server_.name(), path_);
    ASSERT_TRUE(media.ok()) << media.status();
    EXPECT_EQ(Saved(), server_.media());
  }
}

TEST_F(SaveVideoTest, TellsHowFarADownloadIs) {
  LeavePart(server_.media().substr(0, 200'000));
  std::vector<int64_t> seen;
  ASSERT_TRUE(SaveDownload(*client_, server_.name(), path_, [&](int64_t bytes) {
                seen.push_back(bytes);
              }).ok());
  EXPECT_EQ(seen, (std::vector<int64_t>{265'536, 300'000}));
}

}  // namespace
}  // namespace reel::client
