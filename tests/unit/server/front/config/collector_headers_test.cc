// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "server/front/config/secret_files.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::vector<std::string>> HeadersOf(const std::string& text, mode_t mode = 0600) {
  const testing::TempFolder folder;
  const std::string path = folder.Write("headers", text);
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return ReadCollectorHeaders(path);
}

TEST(CollectorHeaders, AreTheLinesOfAFile) {
  const auto headers =
      HeadersOf("# of the test\n\nAuthorization: Bearer a:b==\r\n x-team:\tred \n");
  ASSERT_TRUE(headers.ok()) << headers.status();
  EXPECT_THAT(*headers, ElementsAre("Authorization: Bearer a:b==", "x-team:\tred"));
}

TEST(CollectorHeaders, WhatIsNoneIsRefusedByItsLineAndNotShown) {
  for (const char* line :
       {"canary", ": canary", "a canary: b", "A:", "X: canary\x01", "X: canary\xc3\xa9",
        "content-LENGTH: 0", "Host: canary", "Transfer-Encoding: chunked"}) {
    const auto headers = HeadersOf(absl::StrCat("A: b\n", line, "\n"));
    ASSERT_FALSE(headers.ok()) << line;
    EXPECT_THAT(headers.status().ToString(), HasSubstr("line 2 "));
    EXPECT_THAT(headers.status().ToString(), Not(HasSubstr("canary")));
  }
}

TEST(CollectorHeaders, AreFewInAFileThatNobodyElseReads) {
  EXPECT_TRUE(HeadersOf("A: b\n").ok());
  EXPECT_FALSE(HeadersOf("A: b\n", 0644).ok());
  EXPECT_FALSE(HeadersOf("").ok());
  std::string many;
  for (int i = 0; i < 17; ++i) absl::StrAppend(&many, "A", i, ": b\n");
  EXPECT_FALSE(HeadersOf(many).ok());
  EXPECT_FALSE(HeadersOf("A: " + std::string(20'000, 'b')).ok());
  EXPECT_FALSE(ReadCollectorHeaders("/nowhere/headers").ok());
}

}  // namespace
}  // namespace reel::front
