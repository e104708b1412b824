// SPDX-License-Identifier: Apache-2.0
// The phases of a live job, and the one function that says how an event changes them. Pure.
#pragma once

#include <optional>

namespace reel::front {

enum class Phase {
  kReserved,   // counts, and waits for its log; nobody knows its name
  kQueued,     // waits for a worker
  kFetching,   // has a worker; its condition files are being read
  kAssigned,   // the worker has it
  kFinishing,  // rendered; its file and state are being stored
  kEnding,     // its end is being written; nothing changes it any more
};

enum class JobEvent {
  kPlaced,     // a worker was chosen for it
  kSent,       // it was sent to the worker
  kUnsent,     // its worker was lost before it was sent
  kRestarted,  // it has to start again
  kRendered,   // the worker has delivered all of it
  kSpoiled,    // the file is not what the worker reported, or could not be written
  kFailed,     // it ends; its worker reported that, or was lost
  kEnded,      // it ends, in whatever phase it is
};

// What happens to the slot that the job holds at a worker.
enum class Release {
  kNothing,   // it holds none, or the worker has freed it
  kTakeBack,  // the worker never got the job: the slot is free at once
  kStop,      // the worker is told to stop, and frees the slot by a report
};

struct PhaseChange {
  Phase next = Phase::kReserved;
  Release release = Release::kNothing;
};

// nullopt: the event does not apply in this phase and changes nothing.
std::optional<PhaseChange> Next(Phase phase, JobEvent event);

// A phase that only the JobTable can change, by an event.
class JobPhase {
 public:
  explicit JobPhase(Phase first) : phase_(first) {}
  Phase now() const { return phase_; }

 private:
  friend class JobTable;
  Phase phase_;
};

}  // namespace reel::front
