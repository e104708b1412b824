// SPDX-License-Identifier: Apache-2.0
// The parts of a fake server that have no script: what it is, and that it is well.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "grpc/health/v1/health.grpc.pb.h"
#include "reel/v1/server_service.grpc.pb.h"

namespace reel::fakes {

// One worker with one model, one operator of two variants, a plug-in that it refuses, and an
// experiment.
class FakeServerService final : public v1::ServerService::Service {
 public:
  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;
  grpc::Status ListModels(grpc::ServerContext* context, const v1::ListModelsRequest* request,
                          v1::ListModelsResponse* response) override;
  grpc::Status ListKernels(grpc::ServerContext* context, const v1::ListKernelsRequest* request,
                           v1::ListKernelsResponse* response) override;
  grpc::Status ListExperiments(grpc::ServerContext* context,
                               const v1::ListExperimentsRequest* request,
                               v1::ListExperimentsResponse* response) override;
  // Two servers, one of which is silent.
  grpc::Status GetFleet(grpc::ServerContext* context, const v1::GetFleetRequest* request,
                        v1::GetFleetResponse* response) override;
  // A log that is well, and, with `store_is_away`, a store that is not.
  grpc::Status CheckFleet(grpc::ServerContext* context, const v1::CheckFleetRequest* request,
                          v1::CheckFleetResponse* response) override;
  std::atomic<bool> store_is_away = false;
  // gpu0 was out, cpu0 was not; nobody knows any other.
  grpc::Status RestoreWorker(grpc::ServerContext* context, const v1::RestoreWorkerRequest* request,
                             v1::RestoreWorkerResponse* response) override;
  // Nobody knows a model but testcard.
  grpc::Status LoadModel(grpc::ServerContext* context, const v1::LoadModelRequest* request,
                         v1::LoadModelResponse* response) override;
  grpc::Status UnloadModel(grpc::ServerContext* context, const v1::UnloadModelRequest* request,
                           v1::UnloadModelResponse* response) override;
};

// Serves.
class FakeHealth final : public grpc::health::v1::Health::Service {
 public:
  grpc::Status Check(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;
};

}  // namespace reel::fakes
