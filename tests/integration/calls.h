// SPDX-License-Identifier: Apache-2.0
// Calls as a client makes them, with everything that came back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "reel/v1/server_service.grpc.pb.h"
#include "reel/v1/video_service.grpc.pb.h"

namespace reel::tests {

// A small clip of the test card: a job that takes a fraction of a second.
v1::VideoSpec SmallSpec(const std::string& prompt, uint64_t seed = 1);
// What the smallest LTX-Video of the tests (model::ltx::TinyFolder) renders in a second.
v1::VideoSpec TinyModelSpec(int num_frames);
std::string NewRequestId();  // a random UUID

// What a stream brought. Media is checked as it comes: offsets without gaps, CRCs, attempts.
struct StreamResult {
  grpc::Status status;
  std::vector<v1::VideoEvent> events;  // media bytes moved out
  std::string file;                    // of the last attempt
  std::vector<size_t> fragment_ends;
  v1::Video accepted, finished;
  bool is_finished = false;
  int restarts = 0;
  absl::Duration first_event;       // after the call
  std::vector<std::string> faults;  // rules of the stream that were broken

  std::string reason() const;  // of ErrorInfo in the status
};

// Called for each event; false leaves the stream.
using OnEvent = std::function<bool(const v1::VideoEvent&)>;

class Calls {
 public:
  explicit Calls(std::shared_ptr<grpc::Channel> channel);

  StreamResult Generate(const v1::GenerateVideoRequest& request, const OnEvent& on_event = nullptr,
                        absl::Duration deadline = absl::Seconds(60));
  StreamResult Generate(const v1::VideoSpec& spec);
  StreamResult Watch(const v1::WatchVideoRequest& request, const OnEvent& on_event = nullptr,
                     absl::Duration deadline = absl::Seconds(60));
  grpc::Status Download(const std::string& name, int64_t offset, std::string* bytes,
                        v1::MediaInfo* media = nullptr);
  v1::Video Create(const v1::VideoSpec& spec, const std::string& request_id = "");
  v1::Video Get(const std::string& name);
  std::vector<v1::Video> List();
  // Until the video is final.
  v1::Video Await(const std::string& name, absl::Duration timeout = absl::Seconds(60));

  v1::VideoService::Stub& videos() { return *videos_; }
  v1::ServerService::Stub& server() { return *server_; }

 private:
  std::unique_ptr<v1::VideoService::Stub> videos_;
  std::unique_ptr<v1::ServerService::Stub> server_;
};

// ErrorInfo.reason of a status, empty when it has none.
std::string ReasonOf(const grpc::Status& status);
// BadRequest's fields.
std::vector<std::string> ViolatedFields(const grpc::Status& status);
std::string Sha256Hex(const std::string& bytes);

}  // namespace reel::tests
