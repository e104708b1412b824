// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "server/front/config/config_checks.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST(FleetChecks, WithoutTheBlockAServerIsAlone) { EXPECT_FALSE(CheckText("").config.has_fleet()); }

TEST(FleetChecks, ANameAndABrokerAreEnough) {
  const CheckedConfig checked =
      CheckText(R"(fleet { name: "prod" nats { urls: "nats://127.0.0.1:4222" } })");
  EXPECT_THAT(checked.problems, IsEmpty());
  const config::v1::Fleet& fleet = checked.config.fleet();
  EXPECT_EQ(fleet.node(), "host-7");
  EXPECT_EQ(fleet.advertise(), "127.0.0.1:50051");
  EXPECT_EQ(fleet.beat().seconds(), 1);
  EXPECT_EQ(fleet.silence().seconds(), 5);
  EXPECT_EQ(fleet.lease().seconds(), 15);
  EXPECT_EQ(fleet.max_clock_skew().seconds(), 5);
  EXPECT_EQ(fleet.nats().replicas(), 1);
  EXPECT_EQ(fleet.nats().max_bytes(), int64_t{8} << 30);
}

TEST(FleetChecks, StatesOfAFleetNeedItsStore) {
  const std::string fleet = R"(fleet { name: "prod" nats { urls: "nats://127.0.0.1:4222" } } )";
  EXPECT_THAT(CheckText(fleet + "state { keep: 'always' }").problems,
              ElementsAre(StartsWith("state.keep: 'always' needs fleet.objects")));
  EXPECT_THAT(CheckText(fleet + "state { keep: 'never' }").problems, IsEmpty());
  EXPECT_THAT(CheckText("state { keep: 'always' max_age { seconds: 60 } }").problems, IsEmpty());
}

TEST(FleetChecks, ListsEveryProblemWithItsKey) {
  const CheckedConfig checked = CheckText(R"(
    listen: "0.0.0.0:50051" insecure_listen: true
    data { replica: "eu1" }
    fleet {
      name: "Prod-1" node: "a b"
      nats { urls: "nats://10.1.2.3:4222" urls: "tls://127.0.0.1:4222" urls: "127.0.0.1:4222"
             urls: "nats://me:hunter2@127.0.0.1:4222" replicas: 7 max_bytes: 5 }
      beat { seconds: 2 } silence { seconds: 5 } lease { seconds: 4 } max_clock_skew { seconds: 601 }
    })");
  EXPECT_THAT(
      checked.problems,
      UnorderedElementsAre(
          StartsWith("fleet.name:"), StartsWith("fleet.node:"), StartsWith("data.replica:"),
          AllOf(StartsWith("fleet.advertise:"), HasSubstr("0.0.0.0")),
          AllOf(StartsWith("fleet.nats.urls[0]:"), HasSubstr("insecure")),
          AllOf(StartsWith("fleet.nats.urls:"), HasSubstr("all be tls://")),
          StartsWith("fleet.nats.ca_file:"),
          AllOf(StartsWith("fleet.nats.urls[2]:"), HasSubstr("tls://HOST:PORT")),
          AllOf(StartsWith("fleet.nats.urls[3]:"), Not(HasSubstr("hunter2"))),
          StartsWith("fleet.nats.replicas:"), StartsWith("fleet.nats.max_bytes:"),
          AllOf(StartsWith("fleet.silence:"), HasSubstr("three beats")), StartsWith("fleet.lease:"),
          AllOf(StartsWith("fleet.max_clock_skew:"), HasSubstr("100ms"))));
}

// Everything but the listener is right.
CheckedConfig CheckListener(const std::string& text) {
  return CheckText(
      absl::StrCat("fleet { name: 'prod' nats { urls: 'nats://127.0.0.1:4222' } ", text, " }"));
}

TEST(FleetChecks, ServersListenToEachOtherInTheOpenOnLoopbackAlone) {
  EXPECT_THAT(CheckListener("").problems, IsEmpty());
  const CheckedConfig own = CheckListener("listen: '127.0.0.1:50052'");
  EXPECT_THAT(own.problems, IsEmpty());
  EXPECT_EQ(own.config.fleet().advertise(), "127.0.0.1:50052");
  const std::string open = "listen: '0.0.0.0:50052' advertise: '10.1.2.3:50052' ";
  EXPECT_THAT(CheckListener(open).problems,
              ElementsAre(AllOf(StartsWith("fleet.listen:"), HasSubstr("fleet.tls"))));
  const CheckedConfig insecure = CheckListener(open + "insecure: true");
  EXPECT_THAT(insecure.problems, IsEmpty());
  EXPECT_THAT(insecure.warnings, ElementsAre(StartsWith("fleet.insecure:")));
  const std::string files = "certificate_file: '/c' key_file: '/k'";
  EXPECT_THAT(CheckListener(open + "tls { " + files + " client_ca_file: '/a' }").problems,
              IsEmpty());
  EXPECT_THAT(CheckListener(open + "tls { " + files + " }").problems,
              ElementsAre(AllOf(StartsWith("fleet.tls:"), HasSubstr("client_ca_file"))));
  EXPECT_THAT(CheckListener("insecure: true").problems, ElementsAre(StartsWith("fleet.insecure:")));
  EXPECT_THAT(CheckListener("listen: '0.0.0.0:50052' insecure: true").problems,
              ElementsAre(StartsWith("fleet.advertise:")));
}

TEST(FleetChecks, AGatewayHasNeitherWorkersNorModels) {
  const CheckedConfig checked = CheckListener("listen: '127.0.0.1:50052' gateway: true");
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_EQ(checked.config.models_size(), 0);
  EXPECT_EQ(checked.config.workers_size(), 0);
  EXPECT_THAT(CheckListener("gateway: true").problems,
              ElementsAre(AllOf(StartsWith("fleet.gateway:"), HasSubstr("fleet.listen"))));
  EXPECT_THAT(CheckText(R"(
                workers { name: "w" device: "cpu" models: "m" } models { name: "m" path: "/m" }
                fleet { name: "prod" nats { urls: "nats://127.0.0.1:4222" } gateway: true
                        listen: "127.0.0.1:50052" })")
                  .problems,
              UnorderedElementsAre(StartsWith("workers:"), StartsWith("models:")));
}

TEST(FleetChecks, NeedABroker) {
  EXPECT_THAT(CheckText(R"(fleet { name: "prod" })").problems,
              ElementsAre(StartsWith("fleet.nats.urls:")));
}

std::vector<std::string> ProblemsOfNats(const std::string& text) {
  return CheckText("fleet { name: 'prod' nats { " + text + " } }").problems;
}

TEST(BrokerChecks, TlsWantsAnAuthorityAndReachesAnywhere) {
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://10.1.2.3:4222' ca_file: '/ca'"), IsEmpty());
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://10.1.2.3:4222'"),
              ElementsAre(StartsWith("fleet.nats.ca_file:")));
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://a:1' urls: 'nats://127.0.0.1:1' ca_file: '/ca'"),
              ElementsAre(AllOf(StartsWith("fleet.nats.urls:"), HasSubstr("all be tls://"))));
}

TEST(BrokerChecks, FilesOfTlsAreRefusedWithoutIt) {
  EXPECT_THAT(
      ProblemsOfNats(
          "urls: 'nats://127.0.0.1:1' ca_file: '/ca' certificate_file: '/c' key_file: '/k'"),
      UnorderedElementsAre(StartsWith("fleet.nats.ca_file:"),
                           StartsWith("fleet.nats.certificate_file:")));
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://h:1' ca_file: '/ca' key_file: '/k'"),
              ElementsAre(StartsWith("fleet.nats.certificate_file:")));
}

TEST(BrokerChecks, AServerIsOneUserOnly) {
  EXPECT_THAT(ProblemsOfNats("urls: 'nats://127.0.0.1:1' nkey_seed_file: '/s'"), IsEmpty());
  EXPECT_THAT(
      ProblemsOfNats("urls: 'nats://127.0.0.1:1' nkey_seed_file: '/s' credentials_file: '/c'"),
      ElementsAre(StartsWith("fleet.nats.nkey_seed_file:")));
}

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

TEST(StoreChecks, AnEndpointABucketAndCredentialsAreEnough) {
  const CheckedConfig checked = CheckMessage(GoodObjects());
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_EQ(checked.config.fleet().objects().region(), "us-east-1");
  EXPECT_EQ(checked.config.fleet().objects().deliver_backlog(), 32);
}

TEST(StoreChecks, WithoutEncryptionOnlyOnThisMachineOrWhenSaid) {
  for (const char* good : {"http://127.0.0.1:9000", "http://localhost", "http://[::1]:9000",
                           "https://s3.example:8443", "https://[2001:db8::1]"}) {
    EXPECT_THAT(ProblemsAt(good), IsEmpty()) << good;
  }
  EXPECT_THAT(ProblemsAt("http://10.0.0.1:9000"),
              ElementsAre(HasSubstr("is reached without encryption (10.0.0.1:9000)")));
  EXPECT_THAT(ProblemsAt("http://10.0.0.1:9000", true), IsEmpty());
}

TEST(StoreChecks, AnEndpointIsAHostAndAPort) {
  for (const char* bad : {"", "s3.example", "ftp://s3.example", "https://", "https://s3.example/b",
                          "https://s3.example?x", "https://s3.example:0", "https://s3.example:x"}) {
    EXPECT_THAT(ProblemsAt(bad), ElementsAre(StartsWith("fleet.objects.endpoint:"))) << bad;
  }
  // It is not shown where it has a secret.
  EXPECT_THAT(ProblemsAt("https://key:hunter2@s3.example"), ElementsAre(Not(HasSubstr("hunter2"))));
}

TEST(StoreChecks, EachProblemNamesItsKey) {
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
