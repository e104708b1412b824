// SPDX-License-Identifier: Apache-2.0
// Signs of life: this node's own, and what those of others say.
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

// Decides which of several processes under one node's name takes part in the fleet: the one that
// was there first. The others stand by until it is gone.
// Confined to the node's thread.
class NameHold {
 public:
  // Both outlive it.
  NameHold(const NodeOptions& options, Fitness& fitness)
      : options_(options), fitness_(fitness), holds_(options.alone) {}

  // `hears_since`: since when this process has heard its own beats without a break, and so would
  // hear others'; infinite: it does not.
  void Tick(absl::Duration now, const NodeTable& nodes, absl::Duration hears_since);
  // This process slept, or was cut off: another may have the name now.
  void Drop(absl::Duration now);

  // This process may act under the name.
  bool holds() const { return holds_; }
  // Another one may: this one neither acts nor beats.
  bool stands_by() const { return stands_by_; }

 private:
  const NodeOptions& options_;
  Fitness& fitness_;
  bool holds_, stands_by_ = false;
  absl::Duration not_before_ = -absl::InfiniteDuration();
};

// Confined to the node's thread. What it is given outlives it.
class Beats {
 public:
  Beats(LogPort& port, Dispatcher& jobs, const VideoSerializer& serializer,
        const NodeOptions& options);

  // What is told of this node.
  struct Own {
    uint64_t position = 0;
    int claimed = 0;
    int room = 0;
    bool draining = false;
    std::string unfit;  // as in NodeBeat
    bool holds_name = false;
    bool stands_by = false;  // nothing is told of it
    bool operator==(const Own&) const = default;
  };
  // Time has passed: hears, and beats when it is time, or when its room has changed.
  void Tick(absl::Duration now, const Own& own);

  const NodeTable& nodes() const { return nodes_; }
  // Since when beats of this process have come back without a break; infinite: they do not.
  absl::Duration hears_since() const { return hears_since_; }
  // All others that serve it, by name, with how many they could claim now.
  std::map<std::string, int> ServersOf(const std::string& model) const;
  // Others that live and have it, also those that claim nothing for now.
  std::set<std::string> NodesWith(const std::string& model) const;
  // Models for which some node has a device.
  std::set<std::string> ReadyModels() const;
  // Every living server had the time to tell its models, one has some, and their cards are known.
  bool KnowsModels(absl::Duration now) const;
  // Lives and takes videos, as far as is known.
  bool IsServing(const std::string& node) const;
  // Of those that live it is the first by name.
  bool IsFirst() const;
  // Devices of nodes that take videos, ready for some model; 0: nothing was heard yet.
  int NumDevices() const;
  // Nodes that take videos; this one counts.
  int NumServing() const;

 private:
  void Hear(absl::Duration now);
  // Beats of this process come back: those of others would come, too.
  bool HearsItself(absl::Duration now) const;
  void LearnKernels(const NodeBeat& beat);
  // What is known of those that live, where it has changed.
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
  std::set<uint64_t> processes_;                               // that have beaten
  using Lists = std::map<std::string, std::set<std::string>>;  // of kernels, by model
  std::map<std::string, Lists> kernels_;                       // by node, as last heard
  Lists told_kernels_;
};

}  // namespace reel::front
