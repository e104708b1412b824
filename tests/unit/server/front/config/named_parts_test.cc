// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/named_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "reel/config/v1/config.pb.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

using config::v1::ServerConfig;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST(NamedParts, EveryFileOfAModelMustBeThere) {
  const reel::testing::TempFolder folder;
  ServerConfig config;
  config.add_models()->set_name("card");
  config::v1::Model& model = *config.add_models();
  model.set_path(folder.path());
  model.set_manifest_file(folder.File("sums"));
  model.set_text_folder(folder.File("text"));
  EXPECT_THAT(MissingParts(config, ""), ElementsAre(AllOf(StartsWith("models[1].manifest_file:"),
                                                          HasSubstr(folder.File("sums"))),
                                                    StartsWith("models[1].text_folder:")));
  model.set_manifest_file(folder.Write("sums", ""));
  model.clear_text_folder();
  EXPECT_THAT(MissingParts(config, ""), IsEmpty());
  model.add_parts()->set_path(folder.File("vae.gguf"));
  EXPECT_THAT(MissingParts(config, ""), ElementsAre(StartsWith("models[1].parts[0].path:")));
  model.clear_parts();
  model.set_path(folder.File("nowhere"));
  EXPECT_THAT(MissingParts(config, ""), ElementsAre(StartsWith("models[1].path:")));
  model.set_path(folder.File("sum"));
  EXPECT_THAT(MissingParts(config, ""),
              ElementsAre(HasSubstr("; the nearest there is " + folder.File("sums"))));
}

TEST(NamedParts, AGpuNeedsABuildWithKernelsForIt) {
  const reel::testing::TempFolder folder;
  ServerConfig config;
  config.add_workers()->set_device("cpu");
  config.add_workers()->set_device("cuda:0");
  EXPECT_THAT(MissingParts(config, folder.File("libreel_cuda.so")),
              ElementsAre(AllOf(StartsWith("workers[1].device:"), HasSubstr("libreel_cuda.so"))));
  config.mutable_workers(1)->set_device("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
  EXPECT_THAT(MissingParts(config, folder.File("libreel_cuda.so")),
              ElementsAre(HasSubstr("no kernels for GPU-8932f937")));
  EXPECT_THAT(MissingParts(config, folder.Write("libreel_cuda.so", "x")), IsEmpty());
}

TEST(NamedParts, EverySecretIsLookedAtBeforeItIsUsed) {
  const reel::testing::TempFolder folder;
  ServerConfig config;
  EXPECT_THAT(WrongSecrets(config), IsEmpty());
  config::v1::Nats& nats = *config.mutable_fleet()->mutable_nats();
  nats.set_ca_file(folder.File("absent"));
  nats.set_certificate_file(folder.Write("certificate", "none"));
  nats.set_key_file(folder.Write("key", "none"));
  nats.set_nkey_seed_file(folder.Write("seed", "none"));
  nats.set_credentials_file(folder.Write("credentials", "user:password"));
  config.mutable_fleet()->mutable_objects()->set_credentials_file(folder.File("store"));
  config.mutable_tls()->set_key_file(folder.Write("open", "none"));
  for (const std::string& path : {nats.key_file(), nats.nkey_seed_file()}) {
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  }
  ASSERT_EQ(chmod(nats.credentials_file().c_str(), 0644), 0);
  ASSERT_EQ(chmod(config.tls().key_file().c_str(), 0644), 0);
  EXPECT_THAT(WrongSecrets(config),
              UnorderedElementsAre(
                  AllOf(StartsWith("tls.key_file:"), HasSubstr("no private key")),
                  AllOf(StartsWith("tls.key_file:"), HasSubstr("has 0644")),
                  AllOf(StartsWith("fleet.nats.ca_file:"), HasSubstr("absent")),
                  AllOf(StartsWith("fleet.nats.certificate_file:"), HasSubstr("no certificate")),
                  AllOf(StartsWith("fleet.nats.key_file:"), HasSubstr("no private key")),
                  AllOf(StartsWith("fleet.nats.nkey_seed_file:"), HasSubstr("SU...")),
                  AllOf(StartsWith("fleet.nats.credentials_file:"), HasSubstr("has 0644")),
                  AllOf(StartsWith("fleet.objects.credentials_file:"), HasSubstr("store"))));
}

}  // namespace
}  // namespace reel::front
