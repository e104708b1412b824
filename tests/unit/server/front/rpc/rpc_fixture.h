// SPDX-License-Identifier: Apache-2.0
// The real services on a real server, port 0, over jobs that are scripts.
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "reel/v1/server_service.grpc.pb.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "server/front/health/health_board.h"
#include "server/front/rpc/grpc_server.h"
#include "server/front/rpc/server_service.h"
#include "server/front/rpc/video_service.h"
#include "tests/fakes/fake_job_service.h"
#include "tests/fakes/recording_call_observer.h"

namespace reel::front {

struct RpcServerOptions {
  std::unique_ptr<Authorizer> authorizer;  // null: nobody needs a token
  VideoServiceOptions video;
  UnsentLimits unsent;
  bool from_peers = false;  // a listener for other nodes
  std::string address = "127.0.0.1:0";
};

class RpcServer {
 public:
  explicit RpcServer(RpcServerOptions options = {});
  ~RpcServer();

  v1::VideoService::Stub& video() { return *video_stub_; }
  v1::ServerService::Stub& server() { return *server_stub_; }
  std::shared_ptr<grpc::Channel> NewChannel(const grpc::ChannelArguments& arguments = {}) const;

  FakeJobService jobs;
  RecordingCallObserver observer;
  OpenCalls open_calls;
  NewConnections probes, callers;
  UnsentRequests unsent_requests;
  HealthBoard board;
  std::unique_ptr<Authorizer> authorizer;
  std::unique_ptr<StreamPump> pump;
  std::unique_ptr<grpc::Service> video_service, server_service, health_service;
  std::unique_ptr<GrpcServer> grpc;

 private:
  std::unique_ptr<v1::VideoService::Stub> video_stub_;
  std::unique_ptr<v1::ServerService::Stub> server_stub_;
};

// What a status carries, for comparing.
struct ErrorSeen {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string reason;  // of its ErrorInfo
  std::map<std::string, std::string> metadata;
  std::vector<std::string> fields;  // of its BadRequest
};
ErrorSeen See(const grpc::Status& status);

std::string TokenLine(const std::string& token, const std::string& tenant_and_role);

}  // namespace reel::front
