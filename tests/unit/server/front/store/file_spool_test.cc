// SPDX-License-Identifier: Apache-2.0
#include "server/front/store/file_spool.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

class FileSpoolTest : public ::testing::Test {
 protected:
  FileSpoolTest() { EXPECT_TRUE(ClearSpool(path_).ok()); }
  int Files() const {
    int count = 0;
    for (const auto& file : std::filesystem::directory_iterator(path_)) {
      count += file.exists() ? 1 : 0;
    }
    return count;
  }

  testing::TempFolder folder_;
  const std::string path_ = folder_.File("uploads");
};

TEST_F(FileSpoolTest, HasAFileUntilItGoes) {
  {
    auto spool = FileSpool::Open(path_, 1, 12);
    ASSERT_TRUE(spool.ok()) << spool.status();
    EXPECT_TRUE((*spool)->Append("1234ft").ok());
    EXPECT_TRUE((*spool)->Append("ypisom").ok());
    const auto whole = (*spool)->Finish("");
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_EQ(whole->sha256, Sha256Hex("1234ftypisom"));
    EXPECT_EQ(whole->content_type, "video/mp4");
    EXPECT_EQ(*(*spool)->Read(), "1234ftypisom");
    EXPECT_EQ(Files(), 1);
  }
  EXPECT_EQ(Files(), 0);
}

TEST_F(FileSpoolTest, RefusesWhatIsNotAsItWasSaid) {
  auto spool = FileSpool::Open(path_, 1, 5);
  EXPECT_EQ(ReasonOf((*spool)->Append("123456")), Reason::kInvalidRequest);
  EXPECT_TRUE((*spool)->Append("ID3 ").ok());
  EXPECT_EQ(ReasonOf((*spool)->Finish("").status()), Reason::kInvalidRequest);
  EXPECT_FALSE(FileSpool::Open(path_, 1, 5).ok()) << "the number is taken";
}

TEST_F(FileSpoolTest, BeginsEmpty) {
  std::ofstream(path_ + "/7") << "of an earlier process";
  EXPECT_TRUE(ClearSpool(path_).ok());
  EXPECT_EQ(Files(), 0);
}

}  // namespace
}  // namespace reel::front
