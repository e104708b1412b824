// SPDX-License-Identifier: Apache-2.0
// A job that its log says is this server's, as the scheduler knows it.
#pragma once

#include <cstdint>
#include <string>

#include "server/front/jobs/active_job.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/dispatcher_ports.h"
#include "server/front/jobs/dispatcher_state.h"

namespace reel::front {

// Confined to one thread. What it is given outlives it.
class Revival {
 public:
  Revival(const DispatcherState& state, const DispatcherPorts& ports, const Admission& admission)
      : state_(state), ports_(ports), admission_(admission) {}

  // Queued, with what is left of its time. Numbers of its log are above `after`. `condition_bytes`:
  // of the files that came with it.
  ActiveJob Revive(JobRow row, const Video& video, uint64_t after, int64_t condition_bytes) const;

 private:
  // Of the first worker that could run it; empty: there is none.
  std::string WhereOf(const Need& need) const;
  void Reserve(ActiveJob& job, const model::GenerationSpec& spec) const;

  const DispatcherState& state_;
  const DispatcherPorts& ports_;
  const Admission& admission_;
};

}  // namespace reel::front
