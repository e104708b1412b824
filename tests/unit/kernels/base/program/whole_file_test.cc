// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/program/whole_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/fakes/temp_folder.h"

namespace reel {
namespace {

TEST(ReadWholeFile, HasEveryByte) {
  const testing::TempFolder folder;
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes.push_back(static_cast<char>(i % 251));
  for (const size_t size : {size_t{0}, size_t{1}, size_t{65'536}, bytes.size()}) {
    std::ofstream(folder.File("a"), std::ios::binary) << bytes.substr(0, size);
    EXPECT_EQ(ReadWholeFile(folder.File("a")), bytes.substr(0, size)) << size;
  }
}

TEST(ReadWholeFile, IsNothingWhereNothingCanBeRead) {
  const testing::TempFolder folder;
  EXPECT_FALSE(ReadWholeFile(folder.File("none")).has_value());
  EXPECT_FALSE(ReadWholeFile(folder.path()).has_value()) << "a folder opens, and cannot be read";
}

}  // namespace
}  // namespace reel
