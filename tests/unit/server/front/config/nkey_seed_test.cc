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

// The first key of RFC 8032, 7.1, as NATS writes keys.
constexpr char kRfcSeed[] = "SUAJ2YNRTXX72WTAXKCEV5ES5QWMIRCJYVUXWMTJDFYDXLADDSXH6YALCA";
constexpr char kRfcPublic[] = "UDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRUVAL";
constexpr char kSeedOfAnAccount[] = "SAAJ2YNRTXX72WTAXKCEV5ES5QWMIRCJYVUXWMTJDFYDXLADDSXH6YHY3Q";

TEST(NKeySeed, TellsItsPublicHalf) {
  const auto key = ParseNKeySeed(kRfcSeed);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(key->seed, kRfcSeed);
  EXPECT_EQ(key->public_key, kRfcPublic);
}

TEST(NKeySeed, IsRefusedWhereItIsNoneOrWasNotCopiedWhole) {
  std::string other = kRfcSeed;
  other[10] = other[10] == 'A' ? 'B' : 'A';
  const std::string whole = kRfcSeed;
  for (const std::string& bad :
       {std::string(), whole.substr(0, whole.size() - 1), whole + "A", other,
        std::string(kRfcPublic), std::string(kSeedOfAnAccount), whole + "\n" + whole,
        std::string("SU"), std::string("0") + whole}) {
    const auto refused = ParseNKeySeed(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << bad;
    EXPECT_THAT(refused.status().message(), Not(HasSubstr("SUAJ")));
  }
}

TEST(NKeySeed, IsOneLineOfAFileThatNobodyElseReads) {
  reel::testing::TempFolder folder;
  const std::string path = folder.Write("seed", std::string(kRfcSeed) + "\n");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadNKeySeed(path)->public_key, kRfcPublic);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadNKeySeed(path).status()));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  std::ofstream(path) << "hunter2";
  const absl::Status refused = ReadNKeySeed(path).status();
  EXPECT_THAT(refused.message(), HasSubstr(path));
  EXPECT_THAT(refused.message(), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace reel::front
