// SPDX-License-Identifier: Apache-2.0
// Reel's C++ client: video from text over gRPC, with retries, resumption and checked bytes.
//
//   auto client = reel::client::VideoClient::Open({.server = "127.0.0.1:50051"});
//   reel::v1::GenerateVideoRequest request;
//   request.mutable_spec()->set_prompt("a lighthouse in a storm");
//   auto saved = reel::client::SaveVideo((*client)->Generate(request), "out.mp4");
//
// Errors are absl::Status values with the server's code and message; DetailsOf (error_details.h)
// reads reasons, violations and retry hints from them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client_options.h"
#include "client/download_stream.h"
#include "client/video_stream.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

class Connection;

// A server's health; see the serving states of grpc.health.v1.
enum class Health { kUnknownService, kServing, kNotServing };

// Thread-safe; its streams may outlive it. Calls that do not stream block for at most
// options.call_timeout a try, and are retried as RetryOptions says.
class VideoClient {
 public:
  // Reads the files that the options name (INVALID_ARGUMENT if they are unusable). Does not wait
  // for the server.
  static absl::StatusOr<std::unique_ptr<VideoClient>> Open(const ClientOptions& options);
  ~VideoClient();

  // Renders and streams. A request without an id gets a random one, so that resuming after a broken
  // connection never renders twice. Stopping the stream ends the job unless it is `detached`.
  VideoStream Generate(v1::GenerateVideoRequest request) const;
  // Follows a video from any point.
  VideoStream Watch(v1::WatchVideoRequest request) const;
  // The bytes of a finished video.
  DownloadStream Download(v1::DownloadVideoRequest request) const;

  // Starts a job. A request without an id gets a random one.
  absl::StatusOr<v1::Video> Create(v1::CreateVideoRequest request) const;
  // Starts `count` jobs, in the order of their seeds. A server that knows no `count` starts one.
  absl::StatusOr<std::vector<v1::Video>> CreateAll(v1::CreateVideoRequest request) const;
  // Sends a picture, clip or sound ahead: a condition may name it (`file`) that is larger than a
  // request may be.
  absl::StatusOr<v1::UploadedFile> Upload(std::string_view bytes) const;
  absl::StatusOr<v1::Video> Get(const std::string& name) const;
  absl::StatusOr<v1::ListVideosResponse> List(const v1::ListVideosRequest& request) const;
  absl::StatusOr<v1::Video> Cancel(const std::string& name) const;
  absl::Status Delete(const std::string& name) const;
  absl::StatusOr<v1::EstimateVideoResponse> Estimate(const v1::EstimateVideoRequest& request) const;

  absl::StatusOr<v1::GetServerInfoResponse> Info() const;
  absl::StatusOr<std::vector<v1::Model>> Models() const;
  absl::StatusOr<v1::ListKernelsResponse> Kernels() const;
  absl::StatusOr<v1::ListExperimentsResponse> Experiments() const;
  // Only for admins.
  absl::StatusOr<v1::GetFleetResponse> Fleet() const;
  absl::StatusOr<v1::CheckFleetResponse> CheckFleet() const;
  // Puts a worker that is out of service back; for admins. Returns its state before.
  absl::StatusOr<v1::Worker> RestoreWorker(const std::string& worker) const;
  // A model of the server's configuration, for admins. Returns how it stands before anything is
  // loaded or unloaded.
  absl::StatusOr<v1::Model> LoadModel(const std::string& model) const;
  absl::StatusOr<v1::Model> UnloadModel(const std::string& model) const;

  // The health of one service ("" for the server), asked once and not retried.
  absl::StatusOr<reel::client::Health> CheckHealth(const std::string& service) const;
  // Whether the server answers at all, over TLS if configured.
  bool WaitUntilConnected(absl::Duration timeout) const;

 private:
  explicit VideoClient(std::shared_ptr<const Connection> connection);

  std::shared_ptr<const Connection> connection_;
};

}  // namespace reel::client
