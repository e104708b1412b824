// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/server_service.h"

#include <string>
#include <utility>

#include "reel/v1/server_service.pb.h"
#include "server/front/api/server_answers.h"
#include "server/front/rpc/request_reactor.h"

namespace reel::front {
namespace {

using Context = grpc::CallbackServerContext;

class ServerService final : public CallService {
 public:
  ServerService(const CallEnvironment& environment, JobService& jobs, ServerFacts facts)
      : environment_(environment), answers_(jobs, std::move(facts)) {
    Answer<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(
        Method::kGetServerInfo,
        [this](auto& response, const std::string& tenant) { answers_.FillInfo(response, tenant); });
    Answer<v1::ListModelsRequest, v1::ListModelsResponse>(
        Method::kListModels,
        [this](auto& response, const std::string&) { answers_.FillModels(response); });
    Answer<v1::ListKernelsRequest, v1::ListKernelsResponse>(
        Method::kListKernels,
        [this](auto& response, const std::string&) { answers_.FillKernels(response); });
    const auto put_model = [](auto& response, const ServedModel& model) {
      *response.mutable_model() = ModelToProto(model);
    };
    Change<v1::LoadModelRequest, v1::LoadModelResponse>(
        Method::kLoadModel,
        [&jobs](const auto& request, auto done) {
          jobs.LoadModel(request.model(), std::move(done));
        },
        put_model);
    Change<v1::UnloadModelRequest, v1::UnloadModelResponse>(
        Method::kUnloadModel,
        [&jobs](const auto& request, auto done) {
          jobs.UnloadModel(request.model(), std::move(done));
        },
        put_model);
    Change<v1::RestoreWorkerRequest, v1::RestoreWorkerResponse>(
        Method::kRestoreWorker,
        [&jobs](const auto& request, auto done) {
          jobs.RestoreWorker(request.worker(), std::move(done));
        },
        [&jobs](auto& response, const WorkerInfo& worker) {
          *response.mutable_worker() = WorkerToProto(worker, jobs.Running(worker.name));
        });
    Answer<v1::ListExperimentsRequest, v1::ListExperimentsResponse>(
        Method::kListExperiments,
        [this](auto& response, const std::string&) { answers_.FillExperiments(response); });
    Answer<v1::GetFleetRequest, v1::GetFleetResponse>(
        Method::kGetFleet,
        [this](auto& response, const std::string&) { answers_.FillFleet(response); });
    Change<v1::CheckFleetRequest, v1::CheckFleetResponse>(
        Method::kCheckFleet, [&jobs](const auto&, auto done) { jobs.CheckFleet(std::move(done)); },
        [](auto& response, const std::vector<FleetCheck>& checks) {
          for (const FleetCheck& check : checks) *response.add_checks() = CheckToProto(check);
        });
  }

 private:
  // Serves a method whose answer is at hand: `fill(response, tenant)` writes it.
  template <typename Request, typename Response, typename Fill>
  void Answer(Method method, Fill fill) {
    Serve<Response>(method, [this, method, fill](Context* context) {
      return ServeUnary<Request, Response>(environment_, context, method,
                                           [fill](const Request&, PendingUnary<Response> pending) {
                                             fill(pending.response(), pending.context().tenant());
                                             pending.End(absl::OkStatus());
                                           });
    });
  }

  // Serves a method that changes something and answers with it: `ask(request, done)`, then
  // `put(response, it)`.
  template <typename Request, typename Response, typename Ask, typename Put>
  void Change(Method method, Ask ask, Put put) {
    Serve<Response>(method, [this, method, ask, put](Context* context) {
      return ServeUnary<Request, Response>(
          environment_, context, method,
          [ask, put](const Request& request, PendingUnary<Response> pending) {
            ask(request, [put, pending = std::move(pending)](auto changed) mutable {
              if (changed.ok()) put(pending.response(), *changed);
              pending.End(changed.status());
            });
          });
    });
  }

  const CallEnvironment environment_;
  const ServerAnswers answers_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeServerService(const CallEnvironment& environment,
                                                 JobService& jobs, ServerFacts facts) {
  return std::make_unique<ServerService>(environment, jobs, std::move(facts));
}

}  // namespace reel::front
