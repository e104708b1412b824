// SPDX-License-Identifier: Apache-2.0
// The probe with the real reel-worker as its child.
#include "server/worker/plugin_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "tests/fakes/plugins/kernel_repository.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PluginProbeTest : public ::testing::Test {
 protected:
  absl::Status Probe(const std::string& plugin) {
    repository_.AddPlugin(plugin, plugin);
    return ProbePlugin({.plugin = repository_.Source("mine", plugin)}, options_);
  }

  testing::KernelRepository repository_;
  ProbeOptions options_{.program = std::string(std::getenv("REEL_BIN")) + "/reel-worker"};
};

TEST_F(PluginProbeTest, AGoodOnePasses) {
  const absl::Status status = Probe("example_norms");
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(PluginProbeTest, ARefusalComesBackInItsWords) {
  const absl::Status status = Probe("bad_version");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("another version: 2, expected 1"));
}

TEST_F(PluginProbeTest, ACrashEndsTheChildAlone) {
  for (const char* plugin : {"bad_aborts_on_load", "bad_crashes"}) {
    const absl::Status status = Probe(plugin);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << plugin;
    EXPECT_THAT(std::string(status.message()), HasSubstr("signal 6")) << plugin;
  }
}

TEST_F(PluginProbeTest, OneThatDoesNotEndIsEnded) {
  const testing::TempFolder folder;
  options_.program = folder.Write("worker", "#!/bin/sh\nexec sleep 1000\n");
  ASSERT_EQ(chmod(options_.program.c_str(), 0700), 0);
  options_.timeout = absl::Milliseconds(200);
  EXPECT_THAT(std::string(Probe("example_norms").message()), HasSubstr("did not end within 200ms"));
}

TEST_F(PluginProbeTest, AProgramThatIsNotThereIsSaidSo) {
  options_.program = "/nowhere/reel-worker";
  EXPECT_THAT(std::string(Probe("example_norms").message()), HasSubstr("cannot be started"));
}

TEST_F(PluginProbeTest, WhatItSaysIsBounded) {
  const testing::TempFolder folder;
  options_.program = folder.Write(
      "worker", "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x >&2\necho the end >&2\nexit 1\n");
  ASSERT_EQ(chmod(options_.program.c_str(), 0700), 0);
  const absl::Status status = Probe("example_norms");
  EXPECT_LT(status.message().size(), 3000U);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the end"));
}

}  // namespace
}  // namespace reel::worker
