// SPDX-License-Identifier: Apache-2.0
#include "client/part_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace reel::client {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

v1::MediaInfo Info(const std::string& content) {
  Sha256 sha256;
  sha256.Update(content);
  v1::MediaInfo info;
  info.set_size_bytes(static_cast<int64_t>(content.size()));
  info.set_sha256(sha256.Hex());
  return info;
}

class PartFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "part_file_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder_ + "/out.mp4";
  }
  void TearDown() override { fs::remove_all(folder_); }

  PartFile Open(PartFile::Mode mode) { return std::move(*PartFile::Open(path_, mode)); }

  std::string folder_, path_;
};

TEST_F(PartFileTest, AppearsUnderItsNameOnlyWhenComplete) {
  PartFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(ReadAll(file.part_path()), "abc");
  ASSERT_TRUE(file.Commit(Info("abc")).ok());
  EXPECT_EQ(ReadAll(path_), "abc");
  EXPECT_FALSE(fs::exists(file.part_path()));
}

TEST_F(PartFileTest, ReplacesAnOlderFileOnlyAtTheEnd) {
  std::ofstream(path_) << "older";
  PartFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_EQ(ReadAll(path_), "older");
  ASSERT_TRUE(file.Commit(Info("abc")).ok());
  EXPECT_EQ(ReadAll(path_), "abc");
}

TEST_F(PartFileTest, GoesOnWhereAnEarlierOneEnded) {
  {
    ASSERT_TRUE(Open(PartFile::Mode::kFresh).Append("abc").ok());
  }
  PartFile file = Open(PartFile::Mode::kResume);
  EXPECT_EQ(file.size(), 3);
  ASSERT_TRUE(file.Append("de").ok());
  EXPECT_TRUE(file.Commit(Info("abcde")).ok());
}

TEST_F(PartFileTest, ForgetsAnEarlierOneWhenFresh) {
  {
    ASSERT_TRUE(Open(PartFile::Mode::kFresh).Append("abc").ok());
  }
  EXPECT_EQ(Open(PartFile::Mode::kFresh).size(), 0);
}

TEST_F(PartFileTest, RefusesWrongBytesAndKeepsThePart) {
  PartFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("abd").ok());
  EXPECT_EQ(file.Commit(Info("abc")).code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fs::exists(file.part_path()));
}

TEST_F(PartFileTest, BeginsAnewAfterRestart) {
  PartFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("of the first attempt").ok());
  ASSERT_TRUE(file.Restart().ok());
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_TRUE(file.Commit(Info("abc")).ok());
  EXPECT_EQ(ReadAll(path_), "abc");
}

TEST_F(PartFileTest, LeavesNothingWhenDiscarded) {
  PartFile file = Open(PartFile::Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  file.Discard();
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PartFileTest, NamesThePathThatCannotBeWritten) {
  const auto missing = PartFile::Open(folder_ + "/no/out.mp4", PartFile::Mode::kFresh);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(missing.status().message()).find("/no/out.mp4"), std::string::npos);
  EXPECT_FALSE(PartFile::Open(folder_, PartFile::Mode::kFresh).ok());
}

TEST_F(PartFileTest, TellsAFullDisk) {
  fs::create_symlink("/dev/full", path_ + ".part");
  PartFile file = Open(PartFile::Mode::kFresh);
  EXPECT_EQ(file.Append("abc").code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace reel::client
