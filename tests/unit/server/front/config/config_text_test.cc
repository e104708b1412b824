// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reel/config/v1/config.pb.h"
#include "server/front/config/load_config.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ConfigText, ReadsTextFormat) {
  config::v1::ServerConfig config;
  EXPECT_THAT(
      ParseConfigText("listen: '127.0.0.1:1'  # why\nmodels { name: 'm' path: '/w' }", config),
      IsEmpty());
  EXPECT_EQ(config.listen(), "127.0.0.1:1");
  EXPECT_EQ(config.models(0).path(), "/w");
}

TEST(ConfigText, EmptyIsLegal) {
  config::v1::ServerConfig config;
  EXPECT_THAT(ParseConfigText("", config), IsEmpty());
}

TEST(ConfigText, NamesEveryUnknownFieldWithItsPlaceAndTheNearest) {
  config::v1::ServerConfig config;
  const auto problems = ParseConfigText("lisen: 'x'\ndata { foldr: 'y' }\nelephants: 3\n", config);
  EXPECT_THAT(
      problems,
      ElementsAre(AllOf(HasSubstr("1:"), HasSubstr("'lisen'"), HasSubstr("'listen'")),
                  AllOf(HasSubstr("2:"), HasSubstr("'foldr'"), HasSubstr("'folder'")),
                  AllOf(HasSubstr("3:"), HasSubstr("'elephants'"), Not(HasSubstr("nearest")))));
}

TEST(ConfigText, NamesThePlaceOfASyntaxError) {
  config::v1::ServerConfig config;
  EXPECT_THAT(ParseConfigText("listen: 'a'\nscheduler { max_queued_jobs: many }", config),
              ElementsAre(HasSubstr("2:")));
}

TEST(ConfigText, NestingWithoutEndIsRefused) {
  config::v1::ServerConfig config;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "data {";
  EXPECT_THAT(ParseConfigText(deep, config), Not(IsEmpty()));
}

TEST(ConfigText, TheLogShowsNoCredentials) {
  config::v1::ServerConfig config;
  config.set_listen("127.0.0.1:1");
  config.mutable_telemetry()->set_otlp_endpoint("https://me:secret@collector:4318/v1");
  const std::string line = ConfigForLog(config);
  EXPECT_THAT(line, AllOf(HasSubstr("listen: \"127.0.0.1:1\""), HasSubstr("***@collector"),
                          Not(HasSubstr("secret")), Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace reel::front
