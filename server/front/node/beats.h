// SPDX-License-Identifier: Apache-2.0
// Heartbeats of a fleet: sends this node's, and keeps what other nodes' heartbeats say.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/front/fleet/log_port.h"
#include "server/front/fleet/node_table.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/video.h"
#include "server/front/node/fitness.h"
#include "server/front/node/means.h"
#include "server/front/node/node_options.h"

namespace reel::front {

// Decides which of several processes with the same node name takes part in the fleet: the first
// one. The others stand by until it has gone.
// Confined to the node's thread.
class NameHold {
 public:
  // `options` and `fitness` outlive it.
  NameHold(const NodeOptions& options, Fitness& fitness)
      : options_(options), fitness_(fitness), holds_(options.alone) {}

  // `hears_since`: when this process began to receive its own heartbeats without a gap, and so
  // would receive others'; infinite if it does not receive them.
  void Tick(absl::Duration now, const NodeTable& nodes, absl::Duration hears_since);
  // Called after this process slept or was cut off: another may have taken the name.
  void Drop(absl::Duration now);

  // Whether this process owns the name.
  bool holds() const { return holds_; }
  // Whether another process owns the name; this one then neither acts nor sends heartbeats.
  bool stands_by() const { return stands_by_; }

 private:
  const NodeOptions& options_;
  Fitness& fitness_;
  bool holds_, stands_by_ = false;
  absl::Duration not_before_ = -absl::InfiniteDuration();
};

// Confined to the node's thread. Arguments outlive it.
class Beats {
 public:
  Beats(LogPort& port, Dispatcher& jobs, const VideoSerializer& serializer,
        const NodeOptions& options);

  // Content of this node's heartbeat.
  struct Own {
    uint64_t position = 0;
    int claimed = 0;
    int room = 0;
    bool draining = false;
    std::string unfit;  // as in NodeBeat
    bool holds_name = false;
    bool stands_by = false;  // sends nothing
    bool operator==(const Own&) const = default;
  };
  // Reads heartbeats, and sends one when it is due or when this node's free room has changed.
  void Tick(absl::Duration now, const Own& own);

  const NodeTable& nodes() const { return nodes_; }
  // When this process began to receive its own heartbeats without a gap; infinite if it does not.
  absl::Duration hears_since() const { return hears_since_; }
  // The other nodes that serve the model, by name, with how many videos each could claim now.
  std::map<std::string, int> ServersOf(const std::string& model) const;
  // The other live nodes that have the model, including those that claim nothing at the moment.
  std::set<std::string> NodesWith(const std::string& model) const;
  // Models that some node has a ready device for.
  std::set<std::string> ReadyModels() const;
  // True once every live node had time to announce its models, at least one has some, and the
  // descriptions of all are known.
  bool KnowsModels(absl::Duration now) const;
  // Whether the node is alive and takes videos, as far as this one knows.
  bool IsServing(const std::string& node) const;
  // Whether this node is the first by name of all live ones.
  bool IsFirst() const;
  // Number of ready devices of nodes that take videos; 0 before the first heartbeat.
  int NumDevices() const;
  // Number of nodes that take videos, including this one.
  int NumServing() const;

 private:
  void Hear(absl::Duration now);
  // Whether this process receives its own heartbeats, and so would receive others'.
  bool HearsItself(absl::Duration now) const;
  void LearnKernels(const NodeBeat& beat);
  // Passes on the kernels of live nodes, where they have changed.
  void TellKernels();
  void Send(const Own& own);
  void AddKernels(const Means& means, NodeBeat& beat) const;

  LogPort& port_;
  Dispatcher& jobs_;
  const VideoSerializer& serializer_;
  const NodeOptions& options_;
  NodeTable nodes_;
  std::map<std::string, std::shared_ptr<const NodeBeat>> alive_;  // as of the last tick
  absl::Duration sent_ = -absl::InfiniteDuration();
  absl::Duration echoed_ = -absl::InfiniteDuration();
  absl::Duration hears_since_ = absl::InfiniteDuration();
  int64_t count_ = 0;
  Own told_;
  std::set<std::string> learned_;                              // models
  std::set<uint64_t> processes_;                               // that have sent heartbeats
  using Lists = std::map<std::string, std::set<std::string>>;  // of kernels, by model
  std::map<std::string, Lists> kernels_;                       // by node, as last heard
  Lists told_kernels_;
};

}  // namespace reel::front
