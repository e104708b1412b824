// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/object_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// A configuration that is right, with the store's part to be changed.
config::v1::ServerConfig GoodObjects() {
  return ParsedText(
      "fleet { name: 'prod' nats { urls: 'nats://127.0.0.1:1' } objects { endpoint: "
      "'https://s3.example' bucket: 'reel-results' credentials_file: '/etc/reel/store' } }");
}

std::vector<std::string> ProblemsAt(const std::string& endpoint, bool insecure = false) {
  config::v1::ServerConfig config = GoodObjects();
  config.mutable_fleet()->mutable_objects()->set_endpoint(endpoint);
  config.mutable_fleet()->mutable_objects()->set_insecure(insecure);
  return CheckMessage(config).problems;
}

TEST(ObjectOptions, AnEndpointABucketAndCredentialsAreEnough) {
  const CheckedOptions checked = CheckMessage(GoodObjects());
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_TRUE(checked.options.fleet.objects.enabled());
  EXPECT_EQ(checked.options.fleet.objects.bucket, "reel-results");
  EXPECT_EQ(checked.options.fleet.objects.region, "us-east-1");
  EXPECT_EQ(checked.options.fleet.objects.deliver_backlog, 32);
}

TEST(ObjectOptions, WithoutEncryptionOnlyOnThisMachineOrWhenSaid) {
  for (const char* good : {"http://127.0.0.1:9000", "http://localhost", "http://[::1]:9000",
                           "https://s3.example:8443", "https://[2001:db8::1]"}) {
    EXPECT_THAT(ProblemsAt(good), IsEmpty()) << good;
  }
  EXPECT_THAT(ProblemsAt("http://10.0.0.1:9000"),
              ElementsAre(HasSubstr("is reached without encryption (10.0.0.1:9000)")));
  EXPECT_THAT(ProblemsAt("http://10.0.0.1:9000", true), IsEmpty());
}

TEST(ObjectOptions, AnEndpointIsAHostAndAPort) {
  for (const char* bad : {"", "s3.example", "ftp://s3.example", "https://", "https://s3.example/b",
                          "https://s3.example?x", "https://s3.example:0", "https://s3.example:x"}) {
    EXPECT_THAT(ProblemsAt(bad), ElementsAre(StartsWith("fleet.objects.endpoint:"))) << bad;
  }
  // It is not shown where it has a secret.
  EXPECT_THAT(ProblemsAt("https://key:hunter2@s3.example"), ElementsAre(Not(HasSubstr("hunter2"))));
}

TEST(ObjectOptions, EachProblemNamesItsKey) {
  config::v1::ServerConfig config = GoodObjects();
  config::v1::Objects& objects = *config.mutable_fleet()->mutable_objects();
  objects.set_bucket("Reel");
  objects.set_region("us east");
  objects.set_credentials_file("");
  objects.set_deliver_backlog(-1);
  EXPECT_THAT(
      CheckMessage(config).problems,
      UnorderedElementsAre(StartsWith("fleet.objects.bucket:"), StartsWith("fleet.objects.region:"),
                           "fleet.objects.credentials_file: must be set: a file with "
                           "key:secret",
                           "fleet.objects.deliver_backlog: must be 1 to 10000: -1"));
}

}  // namespace
}  // namespace reel::front
