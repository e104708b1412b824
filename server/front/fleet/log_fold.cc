// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_fold.h"

namespace reel::front {
namespace {

FleetPhase EndOf(CancelKind wish) {
  return wish == CancelKind::kExpired ? FleetPhase::kExpired : FleetPhase::kCancelled;
}

// One for each kind of message, for a video that is known and has not ended.
Verdict Judge(FleetJob& job, uint32_t epoch, const ClaimSaid& claim) {
  // Of a queued video or of one that another holds: whether that one is silent no message can tell.
  if (epoch != job.epoch + 1) return Verdict::kWrongEpoch;
  job.phase = FleetPhase::kClaimed;
  job.epoch = epoch;
  job.owner = claim.node;
  return Verdict::kCounted;
}

Verdict Judge(FleetJob& job, uint32_t epoch, const FinishSaid& finish) {
  if (epoch != job.epoch) return Verdict::kWrongEpoch;
  if (job.phase != FleetPhase::kClaimed) return Verdict::kNotHeld;
  if (finish.node != job.owner) return Verdict::kNotClaimant;
  switch (finish.kind) {
    case FinishKind::kSucceeded:
      job.phase = FleetPhase::kSucceeded;
      break;
    case FinishKind::kFailed:
      job.phase = FleetPhase::kFailed;
      break;
    // Nobody is left who could end it.
    case FinishKind::kReleased:
      job.phase = job.wish ? EndOf(*job.wish) : FleetPhase::kQueued;
      break;
  }
  return Verdict::kCounted;
}

Verdict Judge(FleetJob& job, uint32_t, const CancelSaid& wish) {
  if (job.wish) return Verdict::kWishedBefore;
  job.wish = wish.kind;
  if (job.phase == FleetPhase::kQueued) job.phase = EndOf(wish.kind);
  return Verdict::kCounted;
}

Verdict Judge(FleetJob&, uint32_t, const RequestSaid&) { return Verdict::kKnownJob; }
Verdict Judge(FleetJob&, uint32_t, const UnreadableSaid&) { return Verdict::kUnreadable; }

}  // namespace

bool IsVoid(Verdict verdict) { return verdict != Verdict::kCounted && verdict != Verdict::kOld; }

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCounted:
      return "counted";
    case Verdict::kOld:
      return "old";
    case Verdict::kUnreadable:
      return "unreadable";
    case Verdict::kUnknownJob:
      return "unknown_job";
    case Verdict::kKnownJob:
      return "known_job";
    case Verdict::kEnded:
      return "ended";
    case Verdict::kWrongEpoch:
      return "wrong_epoch";
    case Verdict::kNotClaimant:
      return "not_claimant";
    case Verdict::kNotHeld:
      return "not_held";
    case Verdict::kWishedBefore:
      return "wished_before";
  }
  return "";
}

bool HasEnded(FleetPhase phase) {
  return phase != FleetPhase::kQueued && phase != FleetPhase::kClaimed;
}

Verdict Fold(FleetState& state, const LogEntry& entry) {
  if (entry.sequence <= state.position) return Verdict::kOld;
  state.position = entry.sequence;
  if (std::holds_alternative<UnreadableSaid>(entry.said)) return Verdict::kUnreadable;
  const FleetState::Key key{entry.subject.tenant, entry.subject.id};
  const auto found = state.jobs.find(key);
  if (found == state.jobs.end()) {
    if (!std::holds_alternative<RequestSaid>(entry.said)) return Verdict::kUnknownJob;
    FleetJob& job = state.jobs[key];
    job.requested = entry.sequence;
    return Verdict::kCounted;
  }
  if (std::holds_alternative<RequestSaid>(entry.said)) return Verdict::kKnownJob;
  if (HasEnded(found->second.phase)) return Verdict::kEnded;
  return std::visit(
      [&](const auto& said) { return Judge(found->second, entry.subject.epoch, said); },
      entry.said);
}

}  // namespace reel::front
