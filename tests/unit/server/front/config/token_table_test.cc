// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/token_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Of "abc", from FIPS 180-2: the table's hash is the standard's.
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

std::string Hash(const std::string& token) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), bytes);
  std::string hex;
  for (const unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  return hex;
}

TEST(TokenTable, FindsTenantAndRoleOfAToken) {
  const auto table = TokenTable::Parse(std::string("# people\n\n") + kAbc + " blue viewer\n" +
                                       Hash("xyz") + "\tred\tadmin\r\n");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 2U);
  ASSERT_NE(table->Find("abc"), nullptr);
  EXPECT_EQ(table->Find("abc")->tenant, "blue");
  EXPECT_EQ(table->Find("abc")->role, Role::kViewer);
  EXPECT_EQ(table->Find("xyz")->role, Role::kAdmin);
}

TEST(TokenTable, KnowsNoOtherToken) {
  const auto table = TokenTable::Parse(std::string(kAbc) + " blue user\n");
  for (const char* token : {"", "ab", "abcd", "ABC", kAbc}) {
    EXPECT_EQ(table->Find(token), nullptr) << token;
  }
}

TEST(TokenTable, NamesEveryBadLineButNoHash) {
  const auto table = TokenTable::Parse(std::string(kAbc) + " blue\nshort blue user\n" + kAbc +
                                       " BLUE user\n" + kAbc + " blue boss\n");
  ASSERT_FALSE(table.ok());
  const std::string message(table.status().message());
  for (const char* line : {"line 1:", "line 2:", "line 3:", "line 4:"}) {
    EXPECT_THAT(message, HasSubstr(line));
  }
  EXPECT_THAT(message, Not(HasSubstr("ba7816bf")));
}

TEST(TokenTable, RefusesAFileThatOthersCanRead) {
  const std::string path = ::testing::TempDir() + "/token_table_test_tokens";
  std::ofstream(path) << kAbc << " blue user\n";
  chmod(path.c_str(), 0600);
  EXPECT_TRUE(TokenTable::Load(path).ok());
  chmod(path.c_str(), 0644);
  EXPECT_EQ(TokenTable::Load(path).status().code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace reel::front
