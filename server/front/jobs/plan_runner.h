// SPDX-License-Identifier: Apache-2.0
// Asks for the plan and carries its actions out, until nothing follows from them.
#pragma once

#include <string>
#include <vector>

#include "server/front/jobs/assignment.h"
#include "server/front/jobs/clock.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/jobs/model_changes.h"
#include "server/front/jobs/parking.h"
#include "server/front/scheduling/plan.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class PlanRunner {
 public:
  PlanRunner(const DispatcherState& state, Assigner& assigner, Parking& parking,
             ModelChanges& models, JobObserver& observer, const Clock& clock)
      : state_(state),
        assigner_(assigner),
        parking_(parking),
        models_(models),
        observer_(observer),
        clock_(clock) {}

  // `drains`: no worker is given a job any more.
  void Run(bool drains);

 private:
  void CarryOut(const action::Assign& now);
  void CarryOut(const action::HoldBack& now) { assigner_.HoldBack(now.job); }
  void CarryOut(const action::PutLast& now) { assigner_.PutLast(now.job); }
  void CarryOut(const action::Park& now) { parking_.Park(now.job, now.before, now.to_host); }
  void CarryOut(const action::Resume& now) { parking_.Resume(now.job); }
  void CarryOut(const action::Load& now) { models_.LoadOn(now.worker, now.model); }
  void CarryOut(const action::Unload& now);
  void CarryOut(const action::Refuse& now) { assigner_.Refuse(now.job); }

  const DispatcherState& state_;
  Assigner& assigner_;
  Parking& parking_;
  ModelChanges& models_;
  JobObserver& observer_;
  const Clock& clock_;
  std::vector<std::string> assigned_;  // in the run that is under way
};

}  // namespace reel::front
