// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "server/front/config/secret_files.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(KeyPairFile, IsOneLineOfAFileThatNobodyElseReads) {
  reel::testing::TempFolder folder;
  const std::string path = folder.path() + "/credentials";
  const auto write = [&](const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  };
  write("gateway:hunter2:with a colon\n", 0600);
  const auto read = ReadKeyPair(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->key, "gateway");
  EXPECT_EQ(read->secret, "hunter2:with a colon");
  for (const std::string bad : {"", "gateway", ":hunter2", "gateway:", "a:hunter2\nb:c\n"}) {
    write(bad, 0600);
    const auto refused = ReadKeyPair(path);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(refused.status().message(), Not(HasSubstr("hunter2")));
  }
  write("gateway:hunter2\n", 0644);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadKeyPair(path).status()));
}

}  // namespace
}  // namespace reel::front
