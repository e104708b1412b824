// SPDX-License-Identifier: Apache-2.0
// Watches grpc.health.v1.Health of a whole server, as a balancer does.
#pragma once

#include <memory>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {

using HealthCheckResponse = grpc::health::v1::HealthCheckResponse;

class HealthWatch {
 public:
  explicit HealthWatch(const ReelServer& server)
      : stub_(grpc::health::v1::Health::NewStub(server.Connect())),
        reader_(stub_->Watch(&context_, {})) {}
  ~HealthWatch() {
    context_.TryCancel();
    Finish();
  }
  // Until it says so; false when the stream ended before.
  bool WaitFor(HealthCheckResponse::ServingStatus status) {
    HealthCheckResponse response;
    while (reader_->Read(&response)) {
      if (response.status() == status) return true;
    }
    return false;
  }
  grpc::Status Finish() {
    if (reader_ == nullptr) return grpc::Status::OK;
    const grpc::Status status = reader_->Finish();
    reader_.reset();
    return status;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::health::v1::Health::Stub> stub_;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

}  // namespace reel::tests
