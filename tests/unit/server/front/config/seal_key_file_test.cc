// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "server/front/config/load_config.h"
#include "server/front/config/secret_files.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kHexKey[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
constexpr char kBase64Key[] = "IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE=";

TEST(SealKeyFile, HasAKeyALineTheFirstFirst) {
  const auto keys = ParseSealKeys(std::string(kHexKey) + "\n\n  " + kBase64Key + "\r\n");
  ASSERT_TRUE(keys.ok()) << keys.status();
  std::string up, down;
  for (char i = 0; i < 32; ++i) up += i;
  for (char i = 32; i > 0; --i) down += i;
  EXPECT_THAT(*keys, ElementsAre(up, down));
}

TEST(SealKeyFile, SaysWhatIsWrongAndNothingOfAKey) {
  const std::string hex = kHexKey;
  const auto problem = [](const std::string& text) {
    const auto keys = ParseSealKeys(text);
    EXPECT_TRUE(absl::IsInvalidArgument(keys.status())) << keys.status();
    EXPECT_THAT(keys.status().message(), Not(HasSubstr("0405")));
    return std::string(keys.status().message());
  };
  EXPECT_THAT(problem(""), HasSubstr("has no key"));
  EXPECT_THAT(problem("\n \n"), HasSubstr("has no key"));
  EXPECT_THAT(problem(hex.substr(2)), HasSubstr("line 1"));
  EXPECT_THAT(problem(hex + "00"), HasSubstr("line 1"));
  EXPECT_THAT(problem(hex + "\n0405"), HasSubstr("line 2"));
  EXPECT_THAT(problem("g" + hex.substr(1)), HasSubstr("line 1"));
  EXPECT_THAT(problem(hex + "\n" + hex), HasSubstr("twice, again in line 2"));
  std::string many;
  for (int i = 10; i < 27; ++i) many += std::to_string(i) + std::string(62, '0') + "\n";
  EXPECT_THAT(problem(many), HasSubstr("more than 16"));
}

TEST(SealKeyFile, IsAFileThatNobodyElseReadsOrTheStartIsRefused) {
  reel::testing::TempFolder folder;
  const std::string path = folder.Write("prompts.key", std::string(kHexKey) + "\n");
  const std::string config = folder.Write(
      "reel.textproto",
      "models { name: 'c' test_card {} } fleet { name: 'prod' nats { urls: 'nats://127.0.0.1:1' } "
      "encrypt_prompts_key_file: '" +
          path + "' }");
  Flags flags;
  flags.config_file = config;
  const auto problems = [&] { return LoadConfig(flags, {"/state", ""}).problems; };
  const auto of_the_file = [](const auto& words) {
    return Contains(AllOf(StartsWith("fleet.encrypt_prompts_key_file: "), words));
  };
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadSealKeys(path)->size(), 1U);
  EXPECT_THAT(problems(), Not(of_the_file(HasSubstr(""))));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_THAT(problems(), of_the_file(HasSubstr("open to others")));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  folder.Write("prompts.key", "hunter2");
  EXPECT_THAT(problems(), of_the_file(AllOf(HasSubstr("line 1 is none"), HasSubstr(path),
                                            Not(HasSubstr("hunter2")))));
  folder.Write("prompts.key", "");
  EXPECT_THAT(problems(), of_the_file(HasSubstr("has no key")));
  ASSERT_EQ(remove(path.c_str()), 0);
  EXPECT_THAT(problems(), of_the_file(HasSubstr(path)));
}

}  // namespace
}  // namespace reel::front
