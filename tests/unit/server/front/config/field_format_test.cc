// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/front/config/field_rules.h"

namespace reel::front {
namespace {

using config::v1::Format;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct FormatCase {
  Format format;
  std::vector<std::string> good, bad;
};

TEST(FieldFormat, HoldsItsRuleAndShowsTheText) {
  const FormatCase cases[] = {
      {config::v1::FORMAT_NAME, {"a", "0.b_c-d"}, {".a", "A", "a b", "a/b"}},
      {config::v1::FORMAT_REPLICA, {"eu1"}, {"eu-1", "EU1", std::string(17, 'a')}},
      {config::v1::FORMAT_ADDRESS, {"127.0.0.1:1", "[::1]:0", "h:65535"}, {"h", ":1", "h:65536"}},
      {config::v1::FORMAT_ORIGIN,
       {"https://example.org", "http://localhost:8080"},
       {"example.org", "https://example.org/", "ftp://example.org"}},
      {config::v1::FORMAT_SHA256,
       {std::string(64, 'a')},
       {"ab", std::string(64, 'A'), std::string(65, 'a')}},
      {config::v1::FORMAT_BUCKET,
       {"abc", "a.b-c", std::string(63, 'a')},
       {"ab", "-ab", "ab.", "a..b", "a/b", "Reel", std::string(64, 'a')}},
      {config::v1::FORMAT_REGION, {"us-east-1"}, {"us east", "US", std::string(33, 'a')}},
  };
  for (const FormatCase& one : cases) {
    for (const std::string& text : one.good) {
      EXPECT_EQ(WrongFormat(one.format, text), "") << text;
    }
    for (const std::string& text : one.bad) {
      EXPECT_THAT(WrongFormat(one.format, text), AllOf(HasSubstr("must be"), HasSubstr(text)));
    }
  }
}

// It may have a password.
TEST(FieldFormat, ACollectorThatIsRefusedIsNotShown) {
  EXPECT_EQ(WrongFormat(config::v1::FORMAT_COLLECTOR, "http://c:4318"), "");
  EXPECT_THAT(WrongFormat(config::v1::FORMAT_COLLECTOR, "http://me:hunter2@c"),
              AllOf(HasSubstr("must be http[s]://HOST"), ::testing::Not(HasSubstr("hunter2"))));
}

TEST(FieldFormat, AnyTextIsLegalWithoutOne) {
  EXPECT_THAT(WrongFormat(config::v1::FORMAT_UNSPECIFIED, " / "), IsEmpty());
}

}  // namespace
}  // namespace reel::front
