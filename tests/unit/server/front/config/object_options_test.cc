// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/object_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "reel/config/v1/config.pb.h"

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

config::v1::Objects GoodObjects() {
  config::v1::Objects objects;
  objects.set_endpoint("https://s3.example");
  objects.set_bucket("reel-results");
  objects.set_region("us-east-1");
  objects.set_credentials_file("/etc/reel/store");
  objects.set_deliver_backlog(32);
  return objects;
}

std::vector<std::string> ProblemsWith(const config::v1::Objects& objects) {
  std::vector<std::string> problems;
  OptionReader reader(problems);
  ReadObjects(objects, reader);
  return problems;
}

std::vector<std::string> ProblemsAt(const std::string& endpoint, bool insecure = false) {
  config::v1::Objects objects = GoodObjects();
  objects.set_endpoint(endpoint);
  objects.set_insecure(insecure);
  return ProblemsWith(objects);
}

TEST(ObjectOptions, AreTakenAsTheyAre) {
  std::vector<std::string> problems;
  OptionReader reader(problems);
  const ObjectOptions options = ReadObjects(GoodObjects(), reader);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_TRUE(options.enabled());
  EXPECT_EQ(options.bucket, "reel-results");
  EXPECT_EQ(options.deliver_backlog, 32);
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
  config::v1::Objects objects = GoodObjects();
  objects.set_bucket("Reel");
  objects.set_region("us east");
  objects.set_credentials_file("");
  objects.set_deliver_backlog(0);
  EXPECT_THAT(ProblemsWith(objects),
              ElementsAre(StartsWith("fleet.objects.bucket:"), StartsWith("fleet.objects.region:"),
                          StartsWith("fleet.objects.credentials_file:"),
                          StartsWith("fleet.objects.deliver_backlog:")));
  for (const char* bad : {"", "ab", "-ab", "ab.", "a..b", "a/b"}) {
    objects = GoodObjects();
    objects.set_bucket(bad);
    EXPECT_EQ(ProblemsWith(objects).size(), 1U) << bad;
  }
}

}  // namespace
}  // namespace reel::front
