// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "tests/integration/calls.h"
#include "tests/integration/reasons.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr char kGetVideo[] = "/reel.v1.VideoService/GetVideo";

v1::VideoSpec Steps(int steps, const std::string& prompt = "x") {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

std::string RefusalOf(Calls& calls, const v1::VideoSpec& spec, const std::string& request_id = "",
                      const std::string& token = "") {
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  return ReasonOf(calls.videos().CreateVideo(&context, request, &response));
}

std::string RefusalOfGet(Calls& calls, const std::string& name, size_t junk = 0) {
  v1::GetVideoRequest request;
  request.set_name(name);
  v1::GetVideoResponse response;
  grpc::ClientContext context;
  if (junk > 0) context.AddMetadata("x-junk", std::string(junk, 'j'));
  return ReasonOf(calls.videos().GetVideo(&context, request, &response));
}

grpc::Status Delete(Calls& calls, const std::string& name) {
  v1::DeleteVideoRequest request;
  request.set_name(name);
  v1::DeleteVideoResponse response;
  grpc::ClientContext context;
  return calls.videos().DeleteVideo(&context, request, &response);
}

std::string RefusalOfDownload(Calls& calls, const std::string& name, int64_t offset) {
  std::string bytes;
  return ReasonOf(calls.Download(name, offset, &bytes));
}

// Calls that are opened and never send their request, until one of them is given up for another.
std::string RefusalOfUnsent(const ReelServer& server) {
  constexpr int kChannels = 16, kEach = 70;  // the server keeps 1,000
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream;
    grpc::Status status;
  };
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kChannels; ++i) {
    grpc::GenericStub stub(server.Connect());
    for (int j = 0; j < kEach; ++j) {
      Call& call = *calls.emplace_back(std::make_unique<Call>());
      call.stream = stub.PrepareCall(&call.context, kGetVideo, &queue);
      call.stream->StartCall(nullptr);
      call.stream->Finish(&call.status, &call);
    }
  }
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok) && tag == nullptr) {
  }
  const std::string reason = tag == nullptr ? "" : ReasonOf(static_cast<Call*>(tag)->status);
  for (const auto& call : calls) call->context.TryCancel();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return reason;
}

std::string RefusalOfNoise(const ReelServer& server) {
  grpc::GenericStub stub(server.Connect());
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const grpc::Slice slice("\xff\xff\xff\xff");
  const grpc::ByteBuffer noise(&slice, 1);
  const auto call = stub.PrepareUnaryCall(&context, kGetVideo, noise, &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return ReasonOf(status);
}

std::string RefusalOfRestore(Calls& calls) {
  v1::RestoreWorkerRequest request;
  request.set_worker("none");
  v1::RestoreWorkerResponse response;
  grpc::ClientContext context;
  return ReasonOf(calls.server().RestoreWorker(&context, request, &response));
}

std::string RefusalOfHealth(const ReelServer& server) {
  const auto stub = grpc::health::v1::Health::NewStub(server.Connect());
  grpc::health::v1::HealthCheckRequest request;
  request.set_service("reel.v1.NoService");
  grpc::health::v1::HealthCheckResponse response;
  grpc::ClientContext context;
  return ReasonOf(stub->Check(&context, request, &response));
}

// Of one that ended in failure.
std::string EndOf(Calls& calls, const std::string& name) {
  const v1::Video video = calls.Await(name);
  return ReasonOf(grpc::Status(grpc::StatusCode::INTERNAL, "", video.error().SerializeAsString()));
}

void Cancel(Calls& calls, const std::string& name) {
  v1::CancelVideoRequest request;
  request.set_name(name);
  v1::CancelVideoResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(calls.videos().CancelVideo(&context, request, &response).ok());
}

// One byte of its file is another.
void Damage(const ReelServer& server, const std::string& name) {
  const std::string id = name.substr(name.find('/') + 1);
  for (const auto& file : std::filesystem::directory_iterator(server.data_folder() + "/media")) {
    if (file.path().string().find(id) == std::string::npos) continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(99);
    bytes.put('!');
  }
}

std::string NameOfLeft(Calls& calls) {
  std::string name;
  v1::GenerateVideoRequest bound;
  *bound.mutable_spec() = Steps(100);
  calls.Generate(bound, [&](const v1::VideoEvent& event) {
    name = event.accepted().name();
    return false;
  });
  return name;
}

}  // namespace

Reasons OfVideos() {
  ReelServer server;
  const ReelServer other;
  Calls calls(server.Connect()), elsewhere(other.Connect());
  Reasons heard;
  const std::string id = NewRequestId();
  const std::string made = calls.Create(SmallSpec("made"), id).name();
  EXPECT_EQ(calls.Await(made).state(), v1::VIDEO_STATE_SUCCEEDED);
  heard.insert(RefusalOf(calls, SmallSpec("another"), id));
  heard.insert(RefusalOfDownload(calls, made, int64_t{1} << 40));
  v1::VideoSpec promotion;
  promotion.mutable_source()->set_video(made);
  promotion.mutable_source()->mutable_promote();
  heard.insert(RefusalOf(calls, promotion));
  v1::VideoSpec naming = SmallSpec("of a file that was never sent");
  naming.add_conditions()->set_file("files/" + std::string(64, '0'));
  heard.insert(RefusalOf(calls, naming));
  const std::string damaged = calls.Create(SmallSpec("damaged")).name();
  calls.Await(damaged);
  Damage(server, damaged);
  heard.insert(RefusalOfDownload(calls, damaged, 0));
  EXPECT_TRUE(Delete(calls, made).ok());
  heard.insert(RefusalOf(calls, SmallSpec("made"), id));
  const std::string running = calls.Create(Steps(100)).name();
  heard.insert(ReasonOf(Delete(calls, running)));
  heard.insert(RefusalOfDownload(calls, running, 0));
  Cancel(calls, running);
  heard.insert(EndOf(calls, running));
  heard.insert(EndOf(calls, NameOfLeft(calls)));
  heard.insert(RefusalOfGet(elsewhere, damaged));
  return heard;
}

Reasons OfRequests() {
  ReelServer server;
  Calls calls(server.Connect());
  Reasons heard;
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_width(65);
  heard.insert(RefusalOf(calls, spec));
  heard.insert(RefusalOf(calls, SmallSpec("x"), "no UUID"));
  spec = SmallSpec("x");
  spec.mutable_kernels()->set_profile("none");
  heard.insert(RefusalOf(calls, spec));
  spec = SmallSpec("x");
  spec.set_model("none");
  heard.insert(RefusalOf(calls, spec));
  heard.insert(RefusalOfGet(calls, "videos/none"));
  heard.insert(RefusalOfGet(calls, "videos/none", 10'000));
  heard.insert(RefusalOfNoise(server));
  heard.insert(RefusalOfHealth(server));
  heard.insert(RefusalOfRestore(calls));
  heard.insert(RefusalOfUnsent(server));
  return heard;
}

Reasons OfCallers() {
  const testing::TempFolder folder;
  const std::string tokens = folder.Write("tokens", absl::StrCat(Sha256Hex("a"), " small user\n"));
  ::chmod(tokens.c_str(), 0600);
  ServerSetup setup;
  setup.config =
      absl::StrCat("auth { tokens_file: '", tokens, "' tenants { name: 'small' max_jobs: 1 } }");
  ReelServer server(setup);
  Calls calls(server.Connect());
  Reasons heard;
  heard.insert(RefusalOf(calls, SmallSpec("x")));
  EXPECT_EQ(RefusalOf(calls, Steps(100), "", "a"), "");
  heard.insert(RefusalOf(calls, Steps(100), "", "a"));
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer a");
  v1::UnloadModelRequest request;
  request.set_model("testcard");
  v1::UnloadModelResponse response;
  heard.insert(ReasonOf(calls.server().UnloadModel(&context, request, &response)));
  return heard;
}

}  // namespace reel::tests
