// SPDX-License-Identifier: Apache-2.0
// Decides what happens to a job whose worker was lost or reported a failure. A job that ran alone
// when its device failed or hung is suspect and fails; any other job runs once more, alone. A
// worker that was killed from outside blames no job. Pure functions.
#pragma once

#include <string>

#include "server/errors/reason.h"
#include "server/front/workers/worker_pool.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// The workers that a job has lost so far.
struct Losses {
  int losses = 0;  // possibly its own fault
  int kills = 0;   // from outside
};

// The loss of the worker that had the job.
struct WorkerLoss {
  LossCause cause = LossCause::kExit;
  bool ran = false;        // the job may have run a step
  bool ran_alone = false;  // and no other job did
};

struct Verdict {
  bool again = false;       // run it again; otherwise it fails
  bool alone = false;       // with no other job on the worker
  bool quarantine = false;  // count the loss against its shape
  Reason reason = Reason::kWorkerLost;
  std::string message;  // of a failure
  Losses losses;        // from now on
};

// `alone`: the job already ran with no other job on the worker.
Verdict JudgeLoss(const WorkerLoss& loss, bool alone, const Losses& before);
Verdict JudgeFailure(const JobFailed& failed, bool alone, const Losses& before);

}  // namespace reel::front
