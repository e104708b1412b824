// SPDX-License-Identifier: Apache-2.0
// Gives jobs their workers, as the plan says, and sends them there.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/dispatcher_ports.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/endings.h"
#include "server/front/jobs/slots.h"
#include "server/front/jobs/step_limits.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Assigner {
 public:
  Assigner(DispatcherState& state, const DispatcherPorts& ports, Slots& slots, Endings& endings,
           StepLimits& limits)
      : state_(state), ports_(ports), slots_(slots), endings_(endings), limits_(limits) {}

  // A queued job gets a slot.
  void Take(const std::string& id, const std::string& worker);
  // One that has a slot is sent to its worker.
  void Send(const std::string& id);
  void HoldBack(const std::string& id);
  void PutLast(const std::string& id) { slots_.PutLast(state_.jobs.Get(id)); }
  // No worker will ever run it.
  void Refuse(const std::string& id);

 private:
  void SendWith(const std::string& id, int attempt, std::vector<MediaStore::Blob> conditions);
  Assignment AssignmentOf(const ActiveJob& job, double order_key) const;

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  Slots& slots_;
  Endings& endings_;
  StepLimits& limits_;
};

}  // namespace reel::front
