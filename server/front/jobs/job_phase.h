// SPDX-License-Identifier: Apache-2.0
// The phases of a live job, and the one function that says how an event changes them. Pure.
#pragma once

#include <optional>

namespace reel::front {

enum class Phase {
  kCreating,    // not durable yet: nobody knows it
  kQueued,      // waits for a worker
  kFetching,    // has a worker; its conditions are being read
  kAssigned,    // the worker has it
  kRestarting,  // lost its worker; that is being made durable
  kFinishing,   // rendered; its file and state are being made durable: it will succeed
  kEnding,      // its end is being made durable: nothing changes it any more
};

enum class JobEvent {
  kCreated,        // its creation is durable
  kPlaced,         // a worker was chosen for it
  kSent,           // the worker was told of it
  kUnsent,         // its worker was lost before it was told
  kRestarted,      // it has to start again
  kRestartStored,  // that is durable
  kRendered,       // the worker has delivered all of it
  kSpoiled,        // what was delivered is not what was announced, or could not be kept
  kFailed,         // it ends, and no worker has it any more: it was reported or lost
  kEnded,          // it ends, wherever it is
};

// What becomes of the job's slot at a worker.
enum class Release {
  kNothing,   // it has none, or the worker has let go of it
  kTakeBack,  // the worker was never told: the slot is free at once
  kStop,      // the worker is told to stop: the slot is free when it says so
};

struct PhaseChange {
  Phase next = Phase::kCreating;
  Release release = Release::kNothing;
};

// nullopt: the event comes too late or too early, and changes nothing.
std::optional<PhaseChange> Next(Phase phase, JobEvent event);

// A phase that events alone can change, and only through the table that the job is in.
class JobPhase {
 public:
  explicit JobPhase(Phase first) : phase_(first) {}
  Phase now() const { return phase_; }

 private:
  friend class JobTable;
  Phase phase_;
};

}  // namespace reel::front
