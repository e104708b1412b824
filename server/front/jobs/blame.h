// SPDX-License-Identifier: Apache-2.0
// Decides what happens to a job whose worker was lost or reported a failure. A job that ran alone
// when its device failed or hung is suspect and fails; any other job runs once more, alone. A
// worker that was killed from outside blames no job. Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/errors/reason.h"
#include "server/front/scheduling/cost_model.h"
#include "server/front/workers/worker_pool.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Refuses shapes that crash workers: two losses within ten minutes block a shape for ten more.
// Confined to one thread. Times are monotonic.
class Quarantine {
 public:
  static constexpr absl::Duration kWindow = absl::Minutes(10);
  static constexpr int kLosses = 2;

  // A worker was lost while it ran only this shape.
  void Blame(const WorkShape& shape, absl::Duration now);
  // How long the shape is still refused; zero if it may run.
  absl::Duration Left(const WorkShape& shape, absl::Duration now) const;

 private:
  std::map<std::string, std::vector<absl::Duration>> losses_;
};

// Number of workers that were lost while they had the job.
struct Losses {
  int losses = 0;  // possibly by its own fault
  int kills = 0;   // from outside
};

// Loss of the worker that had the job.
struct WorkerLoss {
  LossCause cause = LossCause::kExit;
  bool ran = false;        // the job may have run a step
  bool ran_alone = false;  // no other job was there
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
