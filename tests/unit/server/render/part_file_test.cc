// SPDX-License-Identifier: Apache-2.0
#include "server/render/part_file.h"

#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"

namespace reel::render {
namespace {

TEST(PartFile, AppearsWhenItIsComplete) {
  const reel::testing::TempFolder folder;
  auto file = *PartFile::Create(folder.File("a.mp4"));
  ASSERT_TRUE(file->Write("one ").ok());
  ASSERT_TRUE(file->Write("two").ok());
  EXPECT_FALSE(folder.Has("a.mp4"));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(folder.Read("a.mp4"), "one two");
  EXPECT_FALSE(folder.Has("a.mp4.part"));
}

TEST(PartFile, LeavesNothingBehindWhenItIsNot) {
  const reel::testing::TempFolder folder;
  {
    auto file = *PartFile::Create(folder.File("a.mp4"));
    ASSERT_TRUE(file->Write("half").ok());
  }
  EXPECT_FALSE(folder.Has("a.mp4"));
  EXPECT_FALSE(folder.Has("a.mp4.part"));
}

TEST(PartFile, ReportsAFolderThatIsNotThere) {
  EXPECT_EQ(PartFile::Create("/nowhere/at/all.mp4").status().code(), absl::StatusCode::kInternal);
}

TEST(PartFile, ReportsAFullDisk) {
  const reel::testing::TempFolder folder;
  // A device that is always full stands where the part file would be.
  std::filesystem::create_symlink("/dev/full", folder.File("a.mp4.part"));
  auto file = *PartFile::Create(folder.File("a.mp4"));
  absl::Status status = file->Write(std::string(1 << 20, 'x'));
  if (status.ok()) status = file->Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(folder.Has("a.mp4"));
}

}  // namespace
}  // namespace reel::render
