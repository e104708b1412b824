// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/front/config/default_config.h"

namespace reel::front {
namespace {

TEST(Flags, TakesDashesAndUnderscoresAlike) {
  for (const char* form : {"--data-dir=/a_b-c", "--data_dir=/a_b-c"}) {
    const ParsedFlags parsed = ParseFlags({form, "--check-config"});
    EXPECT_FALSE(parsed.exit_code) << parsed.output;
    EXPECT_EQ(parsed.flags.data_dir, "/a_b-c");
    EXPECT_TRUE(parsed.flags.check_config);
  }
}

TEST(Flags, LeavesValuesAsTheyAre) {
  EXPECT_EQ(ParseFlags({"--data_dir"}).exit_code, 2);
  EXPECT_EQ(ParseFlags({"--model", "my-model"}).flags.model, "my-model");
}

TEST(Flags, EndsWithTwoOnAnUnknownFlagAndNamesIt) {
  const ParsedFlags parsed = ParseFlags({"--lisen=x"});
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_THAT(parsed.output, ::testing::HasSubstr("--lisen"));
}

TEST(Flags, HelpNamesEveryFlagAndEndsWithZero) {
  const ParsedFlags parsed = ParseFlags({"--help"});
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* flag : {"--config", "--check_config", "--version", "--listen", "--metrics",
                           "--data_dir", "--model", "--devices", "--log", "--worker_binary"}) {
    EXPECT_THAT(parsed.output, ::testing::HasSubstr(flag));
  }
}

TEST(Flags, HelpShowsTheDefaultsOfTheConfiguration) {
  const std::string help = ParseFlags({"--help"}).output;
  EXPECT_THAT(help, ::testing::HasSubstr("[127.0.0.1:50051]"));
  EXPECT_THAT(help, ::testing::HasSubstr("[127.0.0.1:9464]"));
}

TEST(Flags, NoneIsLegal) {
  const ParsedFlags parsed = ParseFlags({});
  EXPECT_FALSE(parsed.exit_code);
  EXPECT_TRUE(parsed.flags.listen.empty());
}

}  // namespace
}  // namespace reel::front
