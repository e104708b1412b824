// SPDX-License-Identifier: Apache-2.0
// The only place of this folder that knows both forms: messages as bytes (reel.fleet.v1), and what
// the fold asks of them.
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
  std::string message_id;  // its writer's; empty: written by something that is none of ours
  std::string payload;
};

// A message as a node writes it.
struct LogMessage {
  LogSubject subject;
  std::string payload;
};

// What nodes write. An end without a result, the name of its reason: "CANCELLED_BY_OWNER".
std::string WriteRequest(const RequestSaid& request);
std::string WriteClaim(const ClaimSaid& claim);
std::string WriteFinish(const FinishSaid& finish, const std::string& reason);
std::string WriteWish(const CancelSaid& wish);
std::string WriteDeletion();
std::string WriteBinding(const BindingSaid& binding);
// One owner's claims of all epochs up to `last`: what it begins next is above them.
void AddClaims(const std::string& tenant, const std::string& id, uint32_t last,
               const ClaimSaid& claim, std::vector<LogMessage>& messages);

// A node's sign of life.
struct NodeBeat {
  struct Model {
    std::string name;
    int ready_devices = 0;
    std::string card;               // opaque here
    std::vector<int> kernels = {};  // places in those of the beat
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
// nullopt: bytes that are none, or of no node.
std::optional<NodeBeat> ReadBeat(const std::string& bytes);

// Unreadable are: an unknown subject, bytes that are not its message, a claim or an end without a
// node. So is an end or a wish that says nothing that this build knows.
FoldEntry ReadEntry(const StoredMessage& message);

}  // namespace reel::front
