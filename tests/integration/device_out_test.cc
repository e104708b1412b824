// SPDX-License-Identifier: Apache-2.0
// A device that is gone is out of service until an operator puts it back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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
