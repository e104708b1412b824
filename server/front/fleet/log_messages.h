// SPDX-License-Identifier: Apache-2.0
// Conversion between messages as bytes (reel.fleet.v1) and the structs of the fold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/subjects.h"

namespace reel::front {

// A message as the stream has it.
struct StoredMessage {
  uint64_t sequence = 0;
  std::string subject;
  std::string message_id;  // set by its writer; empty if something foreign wrote it
  std::string payload;
};

// A message as a node writes it.
struct LogMessage {
  LogSubject subject;
  std::string payload;
};

// Encodes messages. An end without a result has the name of its reason, such as
// "CANCELLED_BY_OWNER".
std::string WriteRequest(const RequestSaid& request);
std::string WriteClaim(const ClaimSaid& claim);
std::string WriteFinish(const FinishSaid& finish, const std::string& reason);
std::string WriteWish(const CancelSaid& wish);
std::string WriteDeletion();
std::string WriteBinding(const BindingSaid& binding);
// Adds one owner's claims of all epochs up to `last`, so that its next one is higher.
void AddClaims(const std::string& tenant, const std::string& id, uint32_t last,
               const ClaimSaid& claim, std::vector<LogMessage>& messages);

// A node's heartbeat.
struct NodeBeat {
  struct Model {
    std::string name;
    int ready_devices = 0;
    std::string card;               // opaque here
    std::vector<int> kernels = {};  // indices into the beat's kernel lists
  };
  std::string node, address, build;
  uint64_t position = 0;
  uint64_t process = 0;  // random
  int claimed = 0;
  int room = 0;
  bool draining = false;
  std::vector<Model> models;
  std::vector<std::string> kernels = {};      // of its devices, each list once; opaque here
  std::vector<std::string> prompt_keys = {};  // Seal::Ids
  std::string unfit = {};                     // why it claims nothing for now; empty: it claims
  bool holds_name = false;                    // its process acts under the name

  bool claims() const { return !draining && unfit.empty(); }
};
std::string WriteBeat(const NodeBeat& beat);
// nullopt if the bytes are not a beat or name no node.
std::optional<NodeBeat> ReadBeat(const std::string& bytes);

// Unreadable are an unknown subject, bytes that are not its message, and a claim or end without a
// node. So are ends and wishes of a kind that this build does not know.
FoldEntry ReadEntry(const StoredMessage& message);

}  // namespace reel::front
