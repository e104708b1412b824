// SPDX-License-Identifier: Apache-2.0
// The operator's promises: a start that cannot work is refused with its reason, and metrics count
// what clients count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs reeld with a configuration to its end.
ProgramResult RunReeld(const std::string& config, std::vector<std::string> flags = {}) {
  const testing::TempFolder folder;
  const std::string text = config + " data { folder: '" + folder.File("data") + "' }";
  flags.insert(flags.begin(),
               {"--metrics=127.0.0.1:0", "--config=" + folder.Write("reel.textproto", text)});
  return RunProgram(BinaryPath("reeld"), flags);
}

TEST(Operator, ABadConfigurationEndsAtOnceAndNamesEveryKey) {
  for (const char* flag : {"--check_config", "--log=info"}) {
    const ProgramResult result =
        RunReeld("lisen: '127.0.0.1:0'\nscheduler { order: 'stepps' }\n", {flag});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.errors, AllOf(HasSubstr("'listen'"), HasSubstr("scheduler.order")));
    EXPECT_LT(result.took, absl::Seconds(2));
  }
}

TEST(Operator, BeyondLoopbackNeedsEncryptionOrAWord) {
  const ProgramResult refused = RunReeld("listen: '0.0.0.0:0'");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("0.0.0.0:0"), HasSubstr("tls"), HasSubstr("insecure_listen")));
  EXPECT_EQ(RunReeld("", {"--listen=0.0.0.0:0"}).status, 1);
  EXPECT_EQ(RunReeld("listen: '0.0.0.0:0' insecure_listen: true", {"--check_config"}).status, 0);
}

TEST(Operator, OneDataFolderHasOneServer) {
  ReelServer first;
  const ProgramResult second =
      RunReeld("listen: '127.0.0.1:0'", {"--data_dir=" + first.data_folder()});
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.errors, HasSubstr(first.data_folder()));
  EXPECT_TRUE(first.Alive());
}

TEST(Operator, AMissingWorkerProgramIsNamed) {
  const ProgramResult result =
      RunReeld("listen: '127.0.0.1:0'", {"--worker-binary=/nowhere/worker"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.errors, HasSubstr("/nowhere/worker"));
}

TEST(Operator, TokensDecideAndAreReadAgainOnSighup) {
  const testing::TempFolder folder;
  const std::string tokens = folder.Write("tokens", Sha256Hex("old") + " alice user\n");
  ASSERT_EQ(::chmod(tokens.c_str(), 0600), 0);
  ServerSetup setup;
  setup.config = "auth { tokens_file: '" + tokens + "' }";
  ReelServer server(setup);
  const std::string old_token = folder.Write("old", "old\n"),
                    new_token = folder.Write("new", "new");
  const auto list = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"--server", server.address(), "list"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunProgram(BinaryPath("reel"), arguments).status;
  };
  constexpr int kNotAuthorised = 10;
  EXPECT_EQ(list({}), kNotAuthorised);
  EXPECT_EQ(list({"--token-file", new_token}), kNotAuthorised);
  EXPECT_EQ(list({"--token-file", old_token}), 0);
  folder.Write("tokens", Sha256Hex("new") + " alice user\n");
  server.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return list({"--token-file", new_token}) == 0; }));
  EXPECT_EQ(list({"--token-file", old_token}), kNotAuthorised);
  folder.Write("tokens", "rubbish\n");
  server.Signal(SIGHUP);
  EXPECT_TRUE(
      Eventually([&] { return server.Log().find("old tokens stay") != std::string::npos; }));
  EXPECT_EQ(list({"--token-file", new_token}), 0);
}

TEST(Operator, SecretsAreTakenAsKubernetesMountsThem) {
  const testing::TempFolder folder;
  const std::string tokens = folder.Write("tokens", Sha256Hex("x") + " alice user\n");
  const std::string config = "auth { tokens_file: '" + tokens + "' tenants { name: 'alice' } }";
  ASSERT_EQ(::chmod(tokens.c_str(), 0440), 0);
  EXPECT_EQ(RunReeld(config, {"--check_config"}).status, 0);
  ASSERT_EQ(::chmod(tokens.c_str(), 0460), 0);
  EXPECT_THAT(RunReeld(config, {"--check_config"}).errors, HasSubstr("its group can write it"));
  ASSERT_EQ(::chmod(tokens.c_str(), 0444), 0);
  EXPECT_THAT(RunReeld(config, {"--check_config"}).errors, HasSubstr("every user can reach it"));
}

TEST(Operator, WhatAConfigurationNamesMustBeThere) {
  const ProgramResult model =
      RunReeld("models { name: 'm' path: '/nowhere/model' }", {"--check_config"});
  EXPECT_EQ(model.status, 1);
  EXPECT_THAT(model.errors, AllOf(HasSubstr("models[0].path"), HasSubstr("/nowhere/model")));
  const std::string library = BinaryPath("reeld") + "/../../lib/libreel_cuda.so";
  const ProgramResult device = RunReeld("workers { device: 'cuda:0' }", {"--check_config"});
  if (std::filesystem::exists(std::filesystem::path(library).lexically_normal())) {
    EXPECT_EQ(device.status, 0) << device.errors;
  } else {
    EXPECT_EQ(device.status, 1);
    EXPECT_THAT(device.errors, HasSubstr("workers[0].device"));
  }
}

TEST(Operator, CountsAreThoseOfTheClients) {
  ReelServer server;
  Calls calls(server.Connect());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(calls.Generate(SmallSpec("x")).status.ok());
  for (int i = 0; i < 2; ++i) {
    v1::VideoSpec bad = SmallSpec("x");
    bad.set_width(65);
    EXPECT_EQ(calls.Generate(bad).reason(), "INVALID_SPEC");
  }
  auto samples = server.Scrape();
  EXPECT_EQ(samples["reel_requests_total{mode=\"stream\",outcome=\"ok\",profile=\"auto\"}"], 3);
  EXPECT_EQ(server.Metric("reel_requests_total", "outcome=\"invalid\""), 2);
  EXPECT_EQ(samples["reel_rejections_total{reason=\"INVALID_SPEC\"}"], 2);
  EXPECT_EQ(samples["reel_frames_total"], 27);
  EXPECT_EQ(samples["reel_first_event_duration_seconds_count"], 3);
}

}  // namespace
}  // namespace reel::tests
