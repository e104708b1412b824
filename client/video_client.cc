// SPDX-License-Identifier: Apache-2.0
#include "client/video_client.h"

#include <utility>

#include "client/connection.h"
#include "client/file_upload.h"
#include "client/request_id.h"
#include "client/retry.h"
#include "client/stop_signal.h"

namespace reel::client {
namespace {

// Sends one request until it is answered or the retries run out.
template <class Response, class Stub, class Request>
absl::StatusOr<Response> Call(const Connection& connection, Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request) {
  StopSignal never;
  Retrier retrier(connection.options().retry, never, RandomFraction);
  for (;;) {
    grpc::ClientContext context;
    absl::Status ready = connection.Prepare(context, connection.options().call_timeout);
    if (!ready.ok()) return ready;
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (status.ok()) return response;
    absl::Status again = retrier.AfterFailedCall(MakeFailure(status, context));
    if (!again.ok()) return again;
    connection.Reconnect();
  }
}

template <class Response>
absl::StatusOr<v1::Video> VideoOf(absl::StatusOr<Response> response) {
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_video());
}

template <class Element, class Elements>
std::vector<Element> VectorOf(Elements* elements) {
  return {std::make_move_iterator(elements->begin()), std::make_move_iterator(elements->end())};
}

}  // namespace

using Videos = v1::VideoService::Stub;
using Server = v1::ServerService::Stub;

absl::StatusOr<std::unique_ptr<VideoClient>> VideoClient::Open(const ClientOptions& options) {
  auto connection = Connection::Open(options);
  if (!connection.ok()) return connection.status();
  return std::unique_ptr<VideoClient>(new VideoClient(*std::move(connection)));
}

VideoClient::VideoClient(std::shared_ptr<const Connection> connection)
    : connection_(std::move(connection)) {}
VideoClient::~VideoClient() = default;

VideoStream VideoClient::Generate(v1::GenerateVideoRequest request) const {
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  return VideoStream(connection_, std::move(request));
}

VideoStream VideoClient::Watch(v1::WatchVideoRequest request) const {
  return VideoStream(connection_, std::move(request));
}

DownloadStream VideoClient::Download(v1::DownloadVideoRequest request) const {
  return DownloadStream(connection_, std::move(request));
}

absl::StatusOr<v1::Video> VideoClient::Create(v1::CreateVideoRequest request) const {
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  return VideoOf(Call(*connection_, connection_->videos(), &Videos::CreateVideo, request));
}

absl::StatusOr<std::vector<v1::Video>> VideoClient::CreateAll(
    v1::CreateVideoRequest request) const {
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  auto response = Call(*connection_, connection_->videos(), &Videos::CreateVideo, request);
  if (!response.ok()) return response.status();
  if (response->videos().empty()) *response->add_videos() = std::move(*response->mutable_video());
  return VectorOf<v1::Video>(response->mutable_videos());
}

absl::StatusOr<v1::UploadedFile> VideoClient::Upload(std::string_view bytes) const {
  return UploadFile(*connection_, bytes);
}

absl::StatusOr<v1::Video> VideoClient::Get(const std::string& name) const {
  v1::GetVideoRequest request;
  request.set_name(name);
  return VideoOf(Call(*connection_, connection_->videos(), &Videos::GetVideo, request));
}

absl::StatusOr<v1::ListVideosResponse> VideoClient::List(
    const v1::ListVideosRequest& request) const {
  return Call(*connection_, connection_->videos(), &Videos::ListVideos, request);
}

absl::StatusOr<v1::Video> VideoClient::Cancel(const std::string& name) const {
  v1::CancelVideoRequest request;
  request.set_name(name);
  return VideoOf(Call(*connection_, connection_->videos(), &Videos::CancelVideo, request));
}

absl::Status VideoClient::Delete(const std::string& name) const {
  v1::DeleteVideoRequest request;
  request.set_name(name);
  return Call(*connection_, connection_->videos(), &Videos::DeleteVideo, request).status();
}

absl::StatusOr<v1::EstimateVideoResponse> VideoClient::Estimate(
    const v1::EstimateVideoRequest& request) const {
  return Call(*connection_, connection_->videos(), &Videos::EstimateVideo, request);
}

absl::StatusOr<v1::GetServerInfoResponse> VideoClient::Info() const {
  return Call(*connection_, connection_->server(), &Server::GetServerInfo,
              v1::GetServerInfoRequest());
}

absl::StatusOr<std::vector<v1::Model>> VideoClient::Models() const {
  auto response =
      Call(*connection_, connection_->server(), &Server::ListModels, v1::ListModelsRequest());
  if (!response.ok()) return response.status();
  return VectorOf<v1::Model>(response->mutable_models());
}

absl::StatusOr<v1::ListKernelsResponse> VideoClient::Kernels() const {
  return Call(*connection_, connection_->server(), &Server::ListKernels, v1::ListKernelsRequest());
}

absl::StatusOr<v1::GetFleetResponse> VideoClient::Fleet() const {
  return Call(*connection_, connection_->server(), &Server::GetFleet, v1::GetFleetRequest());
}

absl::StatusOr<v1::CheckFleetResponse> VideoClient::CheckFleet() const {
  return Call(*connection_, connection_->server(), &Server::CheckFleet, v1::CheckFleetRequest());
}

absl::StatusOr<v1::ListExperimentsResponse> VideoClient::Experiments() const {
  return Call(*connection_, connection_->server(), &Server::ListExperiments,
              v1::ListExperimentsRequest());
}

absl::StatusOr<v1::Worker> VideoClient::RestoreWorker(const std::string& worker) const {
  v1::RestoreWorkerRequest request;
  request.set_worker(worker);
  auto response = Call(*connection_, connection_->server(), &Server::RestoreWorker, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_worker());
}

absl::StatusOr<v1::Model> VideoClient::LoadModel(const std::string& model) const {
  v1::LoadModelRequest request;
  request.set_model(model);
  auto response = Call(*connection_, connection_->server(), &Server::LoadModel, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_model());
}

absl::StatusOr<v1::Model> VideoClient::UnloadModel(const std::string& model) const {
  v1::UnloadModelRequest request;
  request.set_model(model);
  auto response = Call(*connection_, connection_->server(), &Server::UnloadModel, request);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_model());
}

absl::StatusOr<reel::client::Health> VideoClient::CheckHealth(const std::string& service) const {
  grpc::ClientContext context;
  absl::Status ready = connection_->Prepare(context, connection_->options().call_timeout);
  if (!ready.ok()) return ready;
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status = connection_->health().Check(&context, request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return Health::kUnknownService;
  if (!status.ok()) return MakeFailure(status, context).status;
  return response.status() == grpc::health::v1::HealthCheckResponse::SERVING ? Health::kServing
                                                                             : Health::kNotServing;
}

bool VideoClient::WaitUntilConnected(absl::Duration timeout) const {
  return connection_->WaitUntilConnected(timeout);
}

}  // namespace reel::client
