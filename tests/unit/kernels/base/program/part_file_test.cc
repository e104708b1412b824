// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/part_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/fakes/temp_folder.h"

namespace reel {
namespace {

using Mode = PartFile::Mode;

class PartFileTest : public ::testing::Test {
 protected:
  PartFile Open(Mode mode) { return std::move(*PartFile::Open(path_, mode)); }
  bool IsThere() const { return folder_.Has("out.mp4"); }
  bool HasPart() const { return folder_.Has("out.mp4.part"); }
  std::string Content() const { return folder_.Read("out.mp4"); }

  const reel::testing::TempFolder folder_;
  const std::string path_ = folder_.File("out.mp4");
};

TEST_F(PartFileTest, AppearsUnderItsNameOnlyWhenComplete) {
  for (const Mode mode : {Mode::kScratch, Mode::kFresh, Mode::kResume}) {
    std::filesystem::remove(path_);
    PartFile file = Open(mode);
    ASSERT_TRUE(file.Append("one ").ok());
    ASSERT_TRUE(file.Append("two").ok());
    EXPECT_FALSE(IsThere());
    EXPECT_EQ(folder_.Read("out.mp4.part"), "one two");
    ASSERT_TRUE(file.Commit().ok());
    EXPECT_EQ(Content(), "one two");
    EXPECT_FALSE(HasPart());
  }
}

TEST_F(PartFileTest, ReplacesAnOlderFileOnlyAtTheEnd) {
  folder_.Write("out.mp4", "older");
  PartFile file = Open(Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_EQ(Content(), "older");
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(Content(), "abc");
}

TEST_F(PartFileTest, ResumesWhereAnEarlierOneEnded) {
  {
    ASSERT_TRUE(Open(Mode::kFresh).Append("abc").ok());
  }
  PartFile file = Open(Mode::kResume);
  EXPECT_EQ(file.size(), 3);
  std::string so_far;
  ASSERT_TRUE(file.Read([&](std::string_view piece) { so_far += piece; }).ok());
  EXPECT_EQ(so_far, "abc");
  ASSERT_TRUE(file.Append("de").ok());
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_EQ(Content(), "abcde");
}

TEST_F(PartFileTest, ForgetsAnEarlierOneUnlessItResumes) {
  {
    ASSERT_TRUE(Open(Mode::kFresh).Append("abc").ok());
  }
  EXPECT_EQ(Open(Mode::kFresh).size(), 0);
  EXPECT_EQ(Open(Mode::kScratch).size(), 0);
}

TEST_F(PartFileTest, BeginsAnewAfterRestart) {
  for (const Mode mode : {Mode::kFresh, Mode::kResume}) {
    PartFile file = Open(mode);
    ASSERT_TRUE(file.Append("of the first attempt").ok());
    ASSERT_TRUE(file.Restart().ok());
    EXPECT_EQ(file.size(), 0);
    ASSERT_TRUE(file.Append("abc").ok());
    ASSERT_TRUE(file.Commit().ok());
    EXPECT_EQ(Content(), "abc");
  }
}

TEST_F(PartFileTest, LeavesNothingWhenDiscarded) {
  PartFile file = Open(Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  file.Discard();
  EXPECT_FALSE(HasPart());
}

TEST_F(PartFileTest, LeavesNothingOfAScratchFile) {
  {
    PartFile file = Open(Mode::kScratch);
    const PartFile moved = std::move(file);
    EXPECT_TRUE(HasPart());
  }
  EXPECT_FALSE(HasPart());
  EXPECT_FALSE(IsThere());
}

TEST_F(PartFileTest, NamesThePathThatCannotBeWritten) {
  const auto missing = PartFile::Open(folder_.path() + "/no/out.mp4", Mode::kFresh);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(missing.status().message()).find("/no/out.mp4"), std::string::npos);
  for (const std::string& folder : {folder_.path(), folder_.path() + "/", std::string()}) {
    EXPECT_FALSE(PartFile::Open(folder, Mode::kFresh).ok()) << folder;
  }
}

TEST_F(PartFileTest, LeavesAloneWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const std::string& path : {path_, std::string("/dev/null"), std::string("/dev/full")}) {
    const absl::Status refused = PartFile::Open(path, Mode::kFresh).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(refused.message().find("'" + path + "'"), absl::string_view::npos) << refused;
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  EXPECT_FALSE(HasPart());
}

TEST_F(PartFileTest, LeavesAloneWhatHasComeInTheMeantime) {
  PartFile file = Open(Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(file.Commit().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(PartFileTest, ReplacesWhatALinkPointsToAndKeepsTheLink) {
  std::filesystem::create_directory(folder_.File("elsewhere"));
  folder_.Write("elsewhere/real.mp4", "older");
  std::filesystem::create_symlink("elsewhere/real.mp4", path_);
  PartFile file = Open(Mode::kFresh);
  ASSERT_TRUE(file.Append("abc").ok());
  EXPECT_TRUE(folder_.Has("elsewhere/real.mp4.part"));
  ASSERT_TRUE(file.Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(folder_.Read("elsewhere/real.mp4"), "abc");
}

TEST_F(PartFileTest, RefusesALinkToNothing) {
  std::filesystem::create_symlink("nothing", path_);
  EXPECT_EQ(PartFile::Open(path_, Mode::kFresh).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(PartFileTest, TellsAFullDisk) {
  // A device that is always full stands where the part would be.
  std::filesystem::create_symlink("/dev/full", path_ + ".part");
  PartFile file = Open(Mode::kScratch);
  EXPECT_EQ(file.Append("abc").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(IsThere());
}

}  // namespace
}  // namespace reel
