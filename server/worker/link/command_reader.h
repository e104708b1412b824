// SPDX-License-Identifier: Apache-2.0
// Turns the front's messages into commands of the engine. Pixels and states are kept until the
// Assign of their job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/pass_state.h"
#include "model/resolve.h"
#include "reel/worker/v1/worker.pb.h"
#include "server/worker/engine/engine.h"

namespace reel::worker {

// Confined to the reading thread.
class CommandReader {
 public:
  // The bound for conditions that wait for their Assign, over all jobs. The front sends a job's
  // and its Assign without others in between.
  static constexpr int64_t kMaxWaitingBytes = model::kMostFileBytes + (int64_t{4} << 20);
  // The same of states. The front sends a job's state and its Assign without others in between.
  static constexpr int64_t kMaxStateBytes = model::PassState::kMostFileBytes;

  // Nullopt: nothing to do yet, or an unknown message.
  std::optional<EngineCommand> Read(worker::v1::AttachResponse message);

 private:
  // By index of the condition.
  using Pixels = std::unordered_map<int, std::string>;

  void Keep(worker::v1::ConditionData& piece);
  void Keep(worker::v1::StateData& piece);
  Pixels TakeFor(const std::string& job);
  // Null unless it is whole and has this hash.
  std::shared_ptr<const std::string> TakeState(const std::string& job, int64_t size,
                                               const std::string& sha256);
  Assignment ReadAssign(const worker::v1::Assign& assign);

  std::unordered_map<std::string, Pixels> waiting_;
  int64_t waiting_bytes_ = 0;
  std::unordered_map<std::string, std::string> states_;
  int64_t state_bytes_ = 0;
};

}  // namespace reel::worker
