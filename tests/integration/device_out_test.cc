// SPDX-License-Identifier: Apache-2.0
// A device that is gone is out of service until an operator puts it back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

v1::Worker OnlyWorker(Calls& calls) {
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(calls.server().GetServerInfo(&context, {}, &info).ok());
  return info.workers_size() == 1 ? info.workers(0) : v1::Worker();
}

grpc::Status Restore(Calls& calls, const std::string& worker) {
  grpc::ClientContext context;
  v1::RestoreWorkerRequest request;
  request.set_worker(worker);
  v1::RestoreWorkerResponse response;
  return calls.server().RestoreWorker(&context, request, &response);
}

bool Await(Calls& calls, v1::WorkerState state) {
  return Eventually([&] { return OnlyWorker(calls).state() == state; });
}

TEST(DeviceOut, StaysOutUntilItIsPutBack) {
  ServerSetup setup;
  setup.config = FaultyConfig("lost", 2, "poison");
  ReelServer server(setup);
  Calls calls(server.Connect());
  const std::string name = OnlyWorker(calls).name();
  EXPECT_EQ(server.Metric("reel_worker_out"), 0);

  const StreamResult lost = calls.Generate(SmallSpec("poison"));
  EXPECT_EQ(lost.reason(), "NO_DEVICE") << lost.status.error_message();
  ASSERT_TRUE(Await(calls, v1::WORKER_STATE_OUT));
  EXPECT_THAT(OnlyWorker(calls).out_reason(), HasSubstr("needs a reset"));
  EXPECT_EQ(server.Metric("reel_worker_out", "reason=\"device\""), 1);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total", "reason=\"device\""), 1);
  EXPECT_THAT(server.Log(), AllOf(HasSubstr("The device needs a reset"),
                                  HasSubstr("out of service until an operator acts")));

  ASSERT_TRUE(Restore(calls, name).ok());
  ASSERT_TRUE(Await(calls, v1::WORKER_STATE_READY));
  EXPECT_EQ(OnlyWorker(calls).out_reason(), "");
  EXPECT_EQ(server.Metric("reel_worker_out"), 0);
  EXPECT_TRUE(calls.Generate(SmallSpec("a fox")).status.ok());
}

// The driver writes more than its GPU's worker dies of.
TEST(DeviceOut, WhatTheDriverSaysOfAGpuIsCountedAndLogged) {
  testing::TempFolder folder;
  const std::string kernel_log = folder.Write("kern.log", "NVRM: Xid (PCI:0000:3b:00): 79, old\n");
  ServerSetup setup;
  setup.config = absl::StrCat("models { name: 'testcard' test_card {} } telemetry { kernel_log: '",
                              kernel_log, "' }");
  ReelServer server(setup);
  EXPECT_EQ(server.Metric("reel_gpu_xids_total", "class=\"memory\""), 0);
  std::ofstream(kernel_log, std::ios::app)
      << "3,9,9,-;NVRM: Xid (PCI:0000:3b:00): 94, pid=7, Contained: SM (0x1)\n";
  EXPECT_TRUE(
      Eventually([&] { return server.Metric("reel_gpu_xids_total", "class=\"memory\"") == 1; }));
  EXPECT_EQ(server.Metric("reel_gpu_xids_total", "class=\"device\""), 0);
  EXPECT_TRUE(Eventually([&] {
    return server.Log().find("\"xid\":94,\"class\":\"memory\",\"gpu\":\"0000:3b:00\"") !=
           std::string::npos;
  })) << server.Log();
}

TEST(DeviceOut, OnlyAWorkerThatIsThereIsPutBack) {
  ReelServer server;
  Calls calls(server.Connect());
  EXPECT_EQ(ReasonOf(Restore(calls, "nobody")), "WORKER_NOT_FOUND");
  EXPECT_TRUE(Restore(calls, OnlyWorker(calls).name()).ok()) << "it serves, and goes on";
  EXPECT_TRUE(calls.Generate(SmallSpec("a fox")).status.ok());
  EXPECT_EQ(OnlyWorker(calls).restarts(), 0);
}

}  // namespace
}  // namespace reel::tests
