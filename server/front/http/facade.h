// SPDX-License-Identifier: Apache-2.0
// The routes below /v1: the OpenAI videos API, as its clients in other projects speak it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "server/front/api/request_convert.h"
#include "server/front/api/server_answers.h"
#include "server/front/http/door_exchange.h"
#include "server/front/http/door_request.h"
#include "server/front/http/facade_conditions.h"

namespace reel::front {

// Thread-safe.
class Facade {
 public:
  // `aliases`: names that requests may call a model, to its own.
  Facade(const DoorParts& parts, const ServerFacts& facts,
         std::map<std::string, std::string> aliases);

  // Of its own routes. The reply comes through the exchange, later perhaps.
  void Serve(const DoorRequest& request, const std::shared_ptr<DoorExchange>& exchange) const;

 private:
  using Exchange = std::shared_ptr<DoorExchange>;
  struct NewVideo {
    NewJob job;
    std::string notice;
    ConditionFields fields;
  };

  // A request that is refused is counted.
  absl::StatusOr<NewVideo> ReadVideo(const DoorRequest& request, bool bound) const;
  void Create(const DoorRequest& request, const Exchange& exchange) const;
  // A retake of the whole video that the address names.
  void Remix(const DoorRequest& request, const Exchange& exchange) const;
  void Sync(const DoorRequest& request, const Exchange& exchange) const;
  void List(const DoorRequest& request, const Exchange& exchange) const;
  // A handler of the video that the address names.
  template <typename Use>
  void WithVideo(const DoorRequest& request, const Exchange& exchange, Use use) const;
  void Content(const DoorRequest& request, const Exchange& exchange) const;
  void Delete(const DoorRequest& request, const Exchange& exchange) const;
  void Model(const DoorRequest& request, const Exchange& exchange) const;
  void ModelInfo(const Exchange& exchange) const;
  void Health(const Exchange& exchange) const;

  const DoorParts parts_;
  const RequestRules rules_;
  const std::map<std::string, std::string> aliases_;
  const int64_t created_;  // when models came to be served, unix s
};

}  // namespace reel::front
