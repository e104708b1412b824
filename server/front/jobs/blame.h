// SPDX-License-Identifier: Apache-2.0
// What becomes of a job whose worker was lost or reports that it failed: a job that ran alone when
// a device was lost or hung is suspect and fails; every other one runs again, alone, once. A worker
// that was killed from outside blames nobody. Pure.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/errors/reason.h"
#include "server/front/workers/worker_pool.h"

namespace reel::front {

// What a job has been through.
struct Losses {
  int losses = 0;  // of workers, that may be its own doing
  int kills = 0;   // of workers, from outside
};

// A worker that was lost with the job.
struct WorkerLoss {
  LossCause cause = LossCause::kExit;
  bool ran = false;        // the job may have been stepped then
  bool ran_alone = false;  // and nothing else was
};

struct Verdict {
  bool again = false;       // it runs again, else it fails
  bool alone = false;       // from now on
  bool quarantine = false;  // its shape cost a worker
  Reason reason = Reason::kWorkerLost;
  std::string message;  // of a failure
  Losses losses;        // from now on
};

// `alone`: the job asks for a worker of its own already.
Verdict JudgeLoss(const WorkerLoss& loss, bool alone, const Losses& before);
// `suspect`: the worker says that the job is to blame.
Verdict JudgeFailure(const absl::Status& error, bool suspect, bool alone, const Losses& before);

}  // namespace reel::front
