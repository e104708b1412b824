// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/integration/model_calls.h"
#include "tests/integration/reasons.h"

namespace reel::tests {
namespace {

v1::VideoSpec Steps(int steps, const std::string& prompt = "x") {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

v1::CreateVideoRequest Within(const v1::VideoSpec& spec, absl::Duration timeout) {
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  if (timeout == absl::InfiniteDuration()) return request;
  request.mutable_timeout()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(timeout)));
  return request;
}

// Of a call that creates a video; the video's name where it is taken.
std::string RefusalOf(Calls& calls, const v1::VideoSpec& spec, std::string* name = nullptr,
                      absl::Duration timeout = absl::InfiniteDuration()) {
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status =
      calls.videos().CreateVideo(&context, Within(spec, timeout), &response);
  if (name != nullptr) *name = response.video().name();
  return ReasonOf(status);
}

// Of one that ends in failure.
std::string EndOf(Calls& calls, const std::string& name) {
  const v1::Video video = calls.Await(name);
  return ReasonOf(grpc::Status(grpc::StatusCode::INTERNAL, "", video.error().SerializeAsString()));
}

std::string EndOf(Calls& calls, const v1::VideoSpec& spec) {
  return EndOf(calls, calls.Create(spec).name());
}

std::string ReasonOfFullQueue() {
  ServerSetup setup;
  setup.config = "scheduler { max_queued_jobs: 1 fill_rows: 1 }";
  ReelServer server(setup);
  Calls calls(server.Connect());
  std::string reason;
  for (int i = 0; reason.empty() && i < 20; ++i) reason = RefusalOf(calls, Steps(100));
  return reason;
}

std::string ReasonOfFullStore() {
  ServerSetup setup;
  setup.config = "data { max_bytes: 1000 }";  // less than one video
  ReelServer server(setup);
  Calls calls(server.Connect());
  return EndOf(calls, SmallSpec("x"));
}

std::string ReasonOfDraining() {
  ServerSetup setup;
  setup.config = SlowConfig(200);
  ReelServer server(setup);
  Calls calls(server.Connect());
  const std::string running = calls.Create(Steps(20)).name();
  EXPECT_TRUE(Eventually([&] { return calls.Get(running).progress().step() > 0; }));
  server.Signal(SIGTERM);
  std::string reason;
  EXPECT_TRUE(Eventually([&] { return !(reason = RefusalOf(calls, Steps(1))).empty(); }));
  return reason;
}

// Its second start says that the device is unusable (exit status 43).
std::string ReasonOfNoDevice() {
  const testing::TempFolder folder;
  const std::string began = folder.File("began");
  const std::string worker = folder.Write(
      "worker", absl::StrCat("#!/bin/sh\nif [ -e ", began, " ]; then exit 43; fi\ntouch ", began,
                             "\nexec ", BinaryPath("reel-worker"), " \"$@\"\n"));
  ::chmod(worker.c_str(), 0700);
  ServerSetup setup;
  setup.flags = {"--worker_binary", worker};
  ReelServer server(setup);
  Calls calls(server.Connect());
  for (const pid_t child : server.Children()) ::kill(child, SIGKILL);
  std::string reason;
  EXPECT_TRUE(Eventually([&] {
    reason = RefusalOf(calls, Steps(1));
    return reason == "NO_DEVICE";
  })) << reason
      << server.Log();
  return reason;
}

std::string ReasonOfLoading() {
  ServerSetup setup;
  setup.config = "models { name: 'testcard' test_card { load_time { seconds: 600 } } }";
  setup.wait_ready = false;
  ReelServer server(setup);
  Calls calls(server.Connect());
  return RefusalOf(calls, Steps(1));
}

}  // namespace

std::string ReasonOfLittleMemory() {
  ReelServer server(
      {"models { name: 'testcard' test_card { memory { per_token: 1000 } } } "
       "workers { device: 'cpu' memory_bytes: 1000 }",
       {},
       "",
       true});
  Calls calls(server.Connect());
  return RefusalOf(calls, SmallSpec("fox"));
}

Reasons OfCapacity() {
  Reasons heard = {ReasonOfFullQueue(), ReasonOfFullStore(), ReasonOfDraining(),
                   ReasonOfNoDevice(),  ReasonOfLoading(),   ReasonOfLittleMemory()};
  ReelServer server;
  Calls calls(server.Connect());
  const std::string known = calls.Create(Steps(4)).name();
  calls.Await(known);
  heard.insert(RefusalOf(calls, Steps(50), nullptr, absl::Milliseconds(100)));
  for (const pid_t worker : server.Children()) ::kill(worker, SIGSTOP);
  std::string late;
  EXPECT_EQ(RefusalOf(calls, Steps(4), &late, absl::Milliseconds(900)), "");
  heard.insert(EndOf(calls, late));
  for (const pid_t worker : server.Children()) ::kill(worker, SIGCONT);
  return heard;
}

Reasons OfFaults() {
  ServerSetup setup;
  setup.config = "models { name: 'testcard' test_card { ";
  for (const char* kind : {"nan", "oom", "sticky", "exit"}) {
    absl::StrAppend(&setup.config, "faults { kind: '", kind, "' step: 1 prompt_contains: '", kind,
                    "' } ");
  }
  setup.config += "} }";
  ReelServer server(setup);
  Calls calls(server.Connect());
  Reasons heard;
  for (const char* kind : {"nan", "oom", "sticky"}) heard.insert(EndOf(calls, SmallSpec(kind)));
  v1::VideoSpec poison = SmallSpec("exit");
  poison.set_width(256);
  heard.insert(EndOf(calls, poison));
  poison.set_prompt("the same shape");
  heard.insert(RefusalOf(calls, poison));
  return heard;
}

Reasons OfModels() {
  const std::string demo = std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights";
  const std::string device =
      "workers { name: 'cpu' device: 'cpu' } scheduler { order: 'fifo' fill_rows: 1 }";
  ReelServer server({SlowConfig(20) + device, {}, "", true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  Reasons heard;
  // Which needs a GPU.
  v1::VideoSpec spec = Steps(1);
  (*spec.mutable_kernels()->mutable_variants())["attention"] = "cudnn";
  heard.insert(RefusalOf(calls, spec));
  // Other weights under the same name, while one runs and another one waits.
  const std::string runs = calls.Create(Steps(100)).name();
  EXPECT_TRUE(Eventually([&] { return calls.Get(runs).progress().step() > 0; }));
  const std::string waits = calls.Create(Steps(100)).name();
  server.Reconfigure(absl::StrCat("models { name: 'testcard' path: '", demo, "' }", device));
  heard.insert(EndOf(calls, waits));
  EXPECT_TRUE(models.Unload("testcard").ok());
  heard.insert(RefusalOf(calls, Steps(1)));
  return heard;
}

}  // namespace reel::tests
