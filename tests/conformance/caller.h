// SPDX-License-Identifier: Apache-2.0
// Calls that may be refused, of a tenant or of nobody in particular.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {

struct Answer {
  grpc::Status status;
  v1::Video video;
  std::vector<v1::Video> videos = {};  // of a call for several

  bool ok() const { return status.ok(); }
  std::string reason() const { return ReasonOf(status); }
};

struct Page {
  grpc::Status status;
  std::vector<v1::Video> videos;
  std::string next;  // empty on the last one
};

class Caller {
 public:
  // `token`: what it presents; empty: nothing.
  explicit Caller(const ReelServer& server, std::string token = "")
      : videos_(v1::VideoService::NewStub(server.Connect())), token_(std::move(token)) {}

  struct Uploaded {
    grpc::Status status;
    v1::UploadedFile file;
  };
  // In pieces. `said`: the size that the first one tells; 0: the true one.
  Uploaded Upload(const std::string& bytes, int64_t said = 0);
  Answer Create(const v1::CreateVideoRequest& request);
  Answer Create(const v1::VideoSpec& spec, const std::string& request_id = "");
  Answer Get(const std::string& name);
  Answer Cancel(const std::string& name);
  grpc::Status Delete(const std::string& name);
  Page List(int page_size, const std::string& token = "",
            const std::vector<v1::VideoState>& states = {});
  // Of all pages.
  std::vector<std::string> Names(int page_size = 200,
                                 const std::vector<v1::VideoState>& states = {});
  // Until the video is final.
  v1::Video Await(const std::string& name);
  // Creates a video and awaits it. What does not succeed is reported.
  v1::Video Finish(const v1::VideoSpec& spec);
  // Until its worker has made that many steps.
  void AwaitStep(const std::string& name, int step = 1);

 private:
  std::unique_ptr<grpc::ClientContext> Context() const;

  std::unique_ptr<v1::VideoService::Stub> videos_;
  const std::string token_;
};

// A small clip of that many steps.
v1::VideoSpec Steps(const std::string& prompt, int steps);
// A clip that another video can be a refinement of, and the request for that, without the clip.
v1::VideoSpec ClipSpec();
v1::VideoSpec RefinementSpec();
// The reason in the video's error.
std::string ErrorOf(const v1::Video& video);
std::vector<std::string> NamesOf(const std::vector<v1::Video>& videos);

}  // namespace reel::tests
