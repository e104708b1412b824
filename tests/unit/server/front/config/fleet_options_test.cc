// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/fleet_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/front/config/key_pair_file.h"
#include "tests/fakes/temp_folder.h"
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

TEST(FleetOptions, WithoutTheBlockAServerIsAlone) {
  EXPECT_FALSE(CheckText("").options.fleet.enabled());
}

TEST(FleetOptions, ANameAndABrokerAreEnough) {
  const CheckedOptions checked =
      CheckText(R"(fleet { name: "prod" nats { urls: "nats://127.0.0.1:4222" } })");
  EXPECT_THAT(checked.problems, IsEmpty());
  const FleetOptions& fleet = checked.options.fleet;
  EXPECT_EQ(fleet.name, "prod");
  EXPECT_EQ(fleet.node, "host-7");
  EXPECT_EQ(fleet.advertise, "127.0.0.1:50051");
  EXPECT_EQ(fleet.beat, absl::Seconds(1));
  EXPECT_EQ(fleet.silence, absl::Seconds(5));
  EXPECT_EQ(fleet.lease, absl::Seconds(15));
  EXPECT_EQ(fleet.max_clock_skew, absl::Seconds(5));
  EXPECT_EQ(fleet.nats.replicas, 1);
  EXPECT_EQ(fleet.nats.max_bytes, int64_t{8} << 30);
}

TEST(FleetOptions, ListsEveryProblemWithItsKey) {
  const CheckedOptions checked = CheckText(R"(
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
CheckedOptions CheckListener(const std::string& text) {
  return CheckText(
      absl::StrCat("fleet { name: 'prod' nats { urls: 'nats://127.0.0.1:4222' } ", text, " }"));
}

TEST(FleetOptions, ServersListenToEachOtherInTheOpenOnLoopbackAlone) {
  EXPECT_FALSE(CheckListener("").options.fleet.forwards());
  const CheckedOptions own = CheckListener("listen: '127.0.0.1:50052'");
  EXPECT_THAT(own.problems, IsEmpty());
  EXPECT_TRUE(own.options.fleet.forwards());
  EXPECT_EQ(own.options.fleet.advertise, "127.0.0.1:50052");
  const std::string open = "listen: '0.0.0.0:50052' advertise: '10.1.2.3:50052' ";
  EXPECT_THAT(CheckListener(open).problems,
              ElementsAre(AllOf(StartsWith("fleet.listen:"), HasSubstr("fleet.tls"))));
  const CheckedOptions insecure = CheckListener(open + "insecure: true");
  EXPECT_THAT(insecure.problems, IsEmpty());
  EXPECT_THAT(insecure.options.warnings, ElementsAre(StartsWith("fleet.insecure:")));
  const std::string files = "certificate_file: '/c' key_file: '/k'";
  EXPECT_THAT(CheckListener(open + "tls { " + files + " client_ca_file: '/a' }").problems,
              IsEmpty());
  EXPECT_THAT(CheckListener(open + "tls { " + files + " }").problems,
              ElementsAre(AllOf(StartsWith("fleet.tls:"), HasSubstr("client_ca_file"))));
  EXPECT_THAT(CheckListener("insecure: true").problems, ElementsAre(StartsWith("fleet.insecure:")));
  EXPECT_THAT(CheckListener("listen: '0.0.0.0:50052' insecure: true").problems,
              ElementsAre(StartsWith("fleet.advertise:")));
}

TEST(FleetOptions, AGatewayHasNeitherWorkersNorModels) {
  const CheckedOptions checked = CheckListener("listen: '127.0.0.1:50052' gateway: true");
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_TRUE(checked.options.fleet.gateway);
  EXPECT_TRUE(checked.options.models.empty());
  EXPECT_TRUE(checked.options.workers.empty());
  EXPECT_THAT(CheckListener("gateway: true").problems,
              ElementsAre(AllOf(StartsWith("fleet.gateway:"), HasSubstr("fleet.listen"))));
  EXPECT_THAT(CheckText(R"(
                workers { name: "w" device: "cpu" models: "m" } models { name: "m" path: "/m" }
                fleet { name: "prod" nats { urls: "nats://127.0.0.1:4222" } gateway: true
                        listen: "127.0.0.1:50052" })")
                  .problems,
              UnorderedElementsAre(StartsWith("workers:"), StartsWith("models:")));
}

TEST(FleetOptions, NeedABroker) {
  EXPECT_THAT(CheckText(R"(fleet { name: "prod" })").problems,
              ElementsAre(StartsWith("fleet.nats.urls:")));
}

TEST(KeyPairFile, IsOneLineOfAFileThatNobodyElseReads) {
  reel::testing::TempFolder folder;
  const std::string path = folder.path() + "/credentials";
  const auto write = [&](const std::string& text, mode_t mode) {
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
  };
  write("gateway:hunter2:with a colon\n", 0600);
  const auto read = ReadKeyPair(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->key, "gateway");
  EXPECT_EQ(read->secret, "hunter2:with a colon");
  for (const std::string bad : {"", "gateway", ":hunter2", "gateway:", "a:hunter2\nb:c\n"}) {
    write(bad, 0600);
    const auto refused = ReadKeyPair(path);
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(refused.status().message(), Not(HasSubstr("hunter2")));
  }
  write("gateway:hunter2\n", 0644);
  EXPECT_TRUE(absl::IsPermissionDenied(ReadKeyPair(path).status()));
}

}  // namespace
}  // namespace reel::front
