// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/nats_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> ProblemsOfNats(const std::string& text) {
  return CheckText("fleet { name: 'prod' nats { " + text + " } }").problems;
}

TEST(NatsOptions, TlsWantsAnAuthorityAndReachesAnywhere) {
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://10.1.2.3:4222' ca_file: '/ca'"), IsEmpty());
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://10.1.2.3:4222'"),
              ElementsAre(StartsWith("fleet.nats.ca_file:")));
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://a:1' urls: 'nats://127.0.0.1:1' ca_file: '/ca'"),
              ElementsAre(AllOf(StartsWith("fleet.nats.urls:"), HasSubstr("all be tls://"))));
}

TEST(NatsOptions, FilesOfTlsAreRefusedWithoutIt) {
  EXPECT_THAT(
      ProblemsOfNats(
          "urls: 'nats://127.0.0.1:1' ca_file: '/ca' certificate_file: '/c' key_file: '/k'"),
      UnorderedElementsAre(StartsWith("fleet.nats.ca_file:"),
                           StartsWith("fleet.nats.certificate_file:")));
  EXPECT_THAT(ProblemsOfNats("urls: 'tls://h:1' ca_file: '/ca' key_file: '/k'"),
              ElementsAre(StartsWith("fleet.nats.certificate_file:")));
}

TEST(NatsOptions, AServerIsOneUserOnly) {
  EXPECT_THAT(ProblemsOfNats("urls: 'nats://127.0.0.1:1' nkey_seed_file: '/s'"), IsEmpty());
  EXPECT_THAT(
      ProblemsOfNats("urls: 'nats://127.0.0.1:1' nkey_seed_file: '/s' credentials_file: '/c'"),
      ElementsAre(StartsWith("fleet.nats.nkey_seed_file:")));
}

TEST(NatsOptions, EveryFileIsCheckedBeforeItIsUsed) {
  reel::testing::TempFolder folder;
  NatsOptions nats;
  EXPECT_THAT(CheckNatsFiles(nats), IsEmpty());
  nats.ca_file = folder.File("absent");
  nats.certificate_file = folder.Write("certificate", "none");
  nats.key_file = folder.Write("key", "none");
  nats.nkey_seed_file = folder.Write("seed", "none");
  nats.credentials_file = folder.Write("credentials", "user:password");
  for (const std::string& path : {nats.key_file, nats.nkey_seed_file}) {
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  }
  ASSERT_EQ(chmod(nats.credentials_file.c_str(), 0644), 0);
  EXPECT_THAT(CheckNatsFiles(nats),
              UnorderedElementsAre(
                  AllOf(StartsWith("fleet.nats.ca_file:"), HasSubstr("absent")),
                  AllOf(StartsWith("fleet.nats.certificate_file:"), HasSubstr("no certificate")),
                  AllOf(StartsWith("fleet.nats.key_file:"), HasSubstr("no private key")),
                  AllOf(StartsWith("fleet.nats.nkey_seed_file:"), HasSubstr("SU...")),
                  AllOf(StartsWith("fleet.nats.credentials_file:"), HasSubstr("has 0644"))));
}

}  // namespace
}  // namespace reel::front
