// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "server/front/config/secret_files.h"

namespace reel::front {
namespace {

std::string WriteSmallFile(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + "/read_file_test_" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ReadSmallFile, ReadsTheWholeFile) {
  EXPECT_EQ(*ReadSmallFile(WriteSmallFile("whole", "abc")), "abc");
  EXPECT_EQ(*ReadSmallFile(WriteSmallFile("empty", "")), "");
}

TEST(ReadSmallFile, RefusesLargeMissingAndOddFilesAndNamesThem) {
  const std::string path = WriteSmallFile("large", "12345");
  EXPECT_EQ(ReadSmallFile(path, 5)->size(), 5U);
  const absl::Status large = ReadSmallFile(path, 4).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(large.message()), ::testing::HasSubstr(path));
  EXPECT_EQ(ReadSmallFile(path + ".missing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadSmallFile(::testing::TempDir()).ok());
  EXPECT_FALSE(ReadSmallFile("/dev/null").ok());
}

}  // namespace
}  // namespace reel::front
