// SPDX-License-Identifier: Apache-2.0
// Status of the fleet as one server sees it, for operators, metrics and autoscalers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace reel::front {

// Why a video was released to the fleet.
enum class ReleaseReason {
  kShutdown,
  kRestart,   // an earlier process of this node had it
  kLease,     // this node was paused, or cut off from the log, for too long
  kDelivery,  // its result could not be uploaded
  kUnfit,     // this node cannot render for now
  kNoRoom,    // its disk did not take the result
};
inline constexpr size_t kReleaseReasons = 6;

// Why a server claims nothing at the moment.
enum class Unfit { kDisk, kName, kClock };
inline constexpr size_t kUnfits = 3;

// Result of one check, and how to mend a failure.
struct FleetCheck {
  std::string name;
  bool ok = false;
  std::string detail, hint;
};

struct FleetStatus {
  enum class NodeState {
    kServing,
    kDraining,
    kSilent,  // its videos may be taken over
    kLeft,    // silent after it had drained
  };
  struct Model {
    std::string name;
    int ready_devices = 0;
  };
  struct Node {
    std::string name, address, build;
    NodeState state = NodeState::kServing;
    bool is_this = false;
    absl::Duration since_beat;  // by this server's clock
    uint64_t behind = 0;        // messages of the log that it had not read when it beat last
    int devices = 0, claimed = 0, room = 0;
    std::string unfit;  // why it claims nothing at the moment; empty if it claims
    std::vector<Model> models;
    std::vector<std::string> prompt_keys;  // names of its keys; the first one encrypts
  };
  // Queued and running videos of a model.
  struct Backlog {
    int queued = 0, claimed = 0, ready_devices = 0;
    double seconds = 0;  // device time of both; a guess until a video of the model has ended
  };
  struct Log {
    bool connected = false;
    bool answers = false;  // there is a leader, so writes succeed
    bool ready = false;    // the view has been up to date
    uint64_t position = 0, newest = 0;
    absl::Duration behind;  // how long the oldest known message has not been read
    int64_t holes = 0, rebuilds = 0;
    std::vector<std::string> versions;       // of the brokers that answered at the start, each once
    std::map<std::string, int64_t> voids;    // messages, by why they do not count
    int64_t won = 0, lost = 0, unknown = 0;  // this server's writes
    int64_t refused = 0;                     // likewise: surely not stored
    size_t writing = 0;                      // that wait to be written
  };
  // This server's uploads of results.
  struct Uploads {
    bool enabled = false, store_good = true;
    int waiting = 0, limit = 0;
    int64_t waiting_bytes = 0;
    int64_t stored = 0, given_up = 0, failed_tries = 0;
  };
  // This server's clock compared with the brokers'.
  struct Clock {
    std::optional<absl::Duration> skew;  // positive if ahead; nullopt if theirs is not known
    absl::Duration limit;                // above it the server claims nothing
  };
  // This server's claims by outcome.
  struct Claims {
    int64_t won = 0, lost = 0;
    int64_t takeovers = 0;   // of those that it won: of a silent node's
    int64_t superseded = 0;  // taken over by another server
    std::array<int64_t, kReleaseReasons> releases{};
  };

  std::string fleet, node;
  bool gateway = false;
  std::vector<Node> nodes;                 // by name
  std::map<std::string, Backlog> backlog;  // by model
  Log log;
  Uploads uploads;
  Clock clock;
  std::array<bool, kUnfits> unfit{};  // of this server, by reason
  Claims claims;
};

}  // namespace reel::front
