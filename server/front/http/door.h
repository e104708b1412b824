// SPDX-License-Identifier: Apache-2.0
// The door's requests, each answered by what answers its RPC: the same authorisation, the same
// rules of the fields, the same jobs/. Knows no sockets.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/front/api/server_answers.h"
#include "server/front/http/door_exchange.h"
#include "server/front/http/door_guard.h"
#include "server/front/http/door_request.h"
#include "server/front/http/event_body.h"
#include "server/front/http/facade.h"

namespace reel::front {

struct DoorOptions {
  DoorGuardOptions guard;
  bool page = true;
  std::map<std::string, std::string> model_aliases;  // of the facade
  int streams_per_tenant = 0;                        // 0: any number
};

// Thread-safe.
class Door {
 public:
  Door(const DoorParts& parts, DoorOptions options, ServerFacts facts);

  // By the head alone, before any of the body is read. A reply: that is all there is to say.
  std::optional<DoorReply> Admit(DoorHead head, DoorRequest& request) const;
  // The reply comes through the exchange, later perhaps.
  void Serve(const DoorRequest& request, const std::shared_ptr<DoorExchange>& exchange) const;
  // Where the route takes a file: its bytes come piece by piece, by the connection.
  void BeginFile(const DoorRequest& request, Answer<std::unique_ptr<FileUpload>> done) const;
  // As such a route replies.
  static DoorReply FileReply(const absl::StatusOr<UploadedFile>& file);
  // The fields that every reply has.
  void Complete(const DoorRequest& request, DoorReply& reply) const;

 private:
  using Exchange = std::shared_ptr<DoorExchange>;

  absl::Status CheckBody(DoorRequest& request) const;
  // A place among its tenant's streams, where the reply is one.
  absl::Status TakePlace(const DoorRequest& request, DoorExchange& exchange) const;
  void Create(const DoorRequest& request, const Exchange& exchange) const;
  void Generate(const DoorRequest& request, const Exchange& exchange) const;
  void Estimate(const DoorRequest& request, const Exchange& exchange) const;
  void List(const DoorRequest& request, const Exchange& exchange) const;
  void Events(const DoorRequest& request, const Exchange& exchange) const;
  void Media(const DoorRequest& request, const Exchange& exchange) const;
  void OfVideo(const DoorRequest& request, const Exchange& exchange) const;
  void ChangeModel(const DoorRequest& request, const Exchange& exchange) const;
  void Server(const DoorRequest& request, const Exchange& exchange) const;

  // The request's message with its rules checked; one that makes a job and is refused is counted.
  template <typename Request>
  absl::StatusOr<NewJob> ReadJob(const DoorRequest& request, Request& message) const;
  // `begin(job)` gives the body of a stream over the video, or why there is none.
  template <typename Begin>
  void StreamVideo(const DoorRequest& request, const Exchange& exchange, Begin begin) const;

  const DoorParts parts_;
  const DoorGuard guard_;
  const bool page_;
  const TenantStreams streams_;
  const std::shared_ptr<ProgressTexts> progress_ = std::make_shared<ProgressTexts>();
  const RequestRules rules_;
  const Facade facade_;
  const std::string openapi_;
  const ServerAnswers answers_;
};

}  // namespace reel::front
