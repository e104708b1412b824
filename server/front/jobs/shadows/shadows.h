// SPDX-License-Identifier: Apache-2.0
// Shadow renders: a share of an experiment's videos is rendered again on the other arm, with the
// same spec and seed, when its device has nothing to do. Then the pictures of both are compared. No
// caller sees one, pays for one or waits for one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "server/front/jobs/admission.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/shadows/shadow_result.h"
#include "server/front/jobs/slots.h"
#include "server/front/workers/frames_comparer.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Confined to the dispatcher's thread. One at a time, on whichever device.
class Shadows {
 public:
  Shadows(DispatcherState& state, const DispatcherPorts& ports, Slots& slots, StepLimits& limits,
          const Admission& admission, FramesComparer* comparer)
      : state_(state),
        ports_(ports),
        slots_(slots),
        limits_(limits),
        admission_(admission),
        comparer_(comparer) {}

  // Begins one on a device that had nothing to do now and when this was called last.
  void Tick();
  // Gives it up where a job would find no other idle device. Before jobs are placed; where one is
  // placed beside it all the same, Slots does.
  void MakeWay();
  void GiveUp();

  bool Owns(const JobRef& ref) const { return running_ && running_->id == ref.job; }
  void On(const JobFinished& finished);
  void On(const JobFailed& failed);
  void WorkerLost(const std::string& worker);

 private:
  struct Running {
    std::string id;  // of its file, and what its worker calls it
    std::string worker;
    ShadowCandidate candidate;
    bool renders = true;  // then its pictures are compared
    bool given_up = false;
    std::optional<double> log_ratio;
  };

  bool Idle(const PlannedWorker& worker) const;
  bool AnyWaits() const;
  Need NeedOf(const ShadowCandidate& candidate) const;
  bool Suits(const PlannedWorker& worker, const ShadowCandidate& candidate) const;
  void Begin(PlannedWorker& worker, ShadowCandidate candidate);
  // It is at its worker no more.
  void Leave();
  void OnDigest(const absl::StatusOr<MediaDigest>& digest);
  void OnCompared(const absl::StatusOr<FrameDistance>& distance);
  void End(ShadowResult result, const absl::Status& why);

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  Slots& slots_;
  StepLimits& limits_;
  const Admission& admission_;
  FramesComparer* const comparer_;  // may be missing
  std::optional<Running> running_;
  std::set<std::string> idle_;  // workers that had nothing to do at the last tick
  int64_t begun_ = 0;
};

}  // namespace reel::front
