// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/log_fold.h"

namespace reel::front {
namespace {

FleetPhase EndOf(CancelKind wish) {
  return wish == CancelKind::kExpired ? FleetPhase::kExpired : FleetPhase::kCancelled;
}

// Ends a video that no node owns.
void EndByWish(FleetJob& job) {
  job.phase = EndOf(*job.wish);
  if (!job.wish_video.empty()) job.video = std::move(job.wish_video);
  job.wish_video.clear();
}

// One function per kind of message, for known videos that have not ended.
FoldVerdict Judge(FleetJob& job, uint32_t epoch, const ClaimSaid& claim) {
  // Allows claims of queued and of claimed videos: no message can tell whether an owner is silent.
  if (epoch != job.epoch + 1) return FoldVerdict::kWrongEpoch;
  const bool goes_on =
      claim.goes_on && job.phase == FleetPhase::kClaimed && claim.node == job.owner;
  if (!goes_on) job.begun = epoch;
  job.phase = FleetPhase::kClaimed;
  job.epoch = epoch;
  job.owner = claim.node;
  job.address = claim.address;
  return FoldVerdict::kCounted;
}

FoldVerdict Judge(FleetJob& job, uint32_t epoch, const FinishSaid& finish) {
  if (epoch != job.epoch) return FoldVerdict::kWrongEpoch;
  if (job.phase != FleetPhase::kClaimed) return FoldVerdict::kNotHeld;
  if (finish.node != job.owner) return FoldVerdict::kNotClaimant;
  if (finish.kind != FinishKind::kReleased && !finish.video.empty()) {
    job.video = finish.video;
    job.last_sequence = finish.last_sequence;
  }
  switch (finish.kind) {
    case FinishKind::kSucceeded:
      job.phase = FleetPhase::kSucceeded;
      job.object = finish.object;
      break;
    case FinishKind::kFailed:
      job.phase = FleetPhase::kFailed;
      break;
    // No owner is left to end it.
    case FinishKind::kReleased:
      job.phase = FleetPhase::kQueued;
      if (finish.no_room) ++job.no_room[finish.node];
      if (job.wish) EndByWish(job);
      break;
  }
  if (HasEnded(job.phase)) job.wish_video.clear();
  return FoldVerdict::kCounted;
}

FoldVerdict Judge(FleetJob& job, uint32_t, const CancelSaid& wish) {
  if (job.wish) return FoldVerdict::kWishedBefore;
  job.wish = wish.kind;
  job.wish_video = wish.video;
  if (job.phase == FleetPhase::kQueued) EndByWish(job);
  return FoldVerdict::kCounted;
}

FoldVerdict Judge(FleetJob&, uint32_t, const RequestSaid&) { return FoldVerdict::kKnownJob; }
FoldVerdict Judge(FleetJob&, uint32_t, const DeleteSaid&) { return FoldVerdict::kNotEnded; }
// Bindings and unreadable messages are judged elsewhere.
FoldVerdict Judge(FleetJob&, uint32_t, const BindingSaid&) { return FoldVerdict::kBound; }
FoldVerdict Judge(FleetJob&, uint32_t, const UnreadableSaid&) { return FoldVerdict::kUnreadable; }

FoldVerdict Delete(FleetJob& job) {
  if (job.deleted) return FoldVerdict::kEnded;
  job.deleted = true;
  job.video.clear();
  return FoldVerdict::kCounted;
}

// Whether the bound video has ended without anything to fetch.
bool IsFree(const FoldRecords& records) {
  if (records.trace) return records.trace->phase != FleetPhase::kSucceeded;
  return records.job && HasEnded(records.job->phase) &&
         records.job->phase != FleetPhase::kSucceeded;
}

// An announced video keeps its request id: a repeated call writes the same one.
FoldResult Bind(const FoldRecords& records, const FoldEntry& entry, const BindingSaid& said) {
  const uint32_t number = entry.subject.epoch;
  const bool first = !records.binding;
  if (number != (first ? 1 : records.binding->number + 1)) return {FoldVerdict::kWrongEpoch};
  if (!first && !IsFree(records)) return {FoldVerdict::kBound};
  FoldResult bound{FoldVerdict::kCounted};
  bound.binding = {number, said.video, said.spec_hash, entry.sequence};
  return bound;
}

FoldResult JudgeUnknown(const FoldRecords& records, const FoldEntry& entry) {
  const auto* const request = std::get_if<RequestSaid>(&entry.said);
  if (records.trace) return {request == nullptr ? FoldVerdict::kEnded : FoldVerdict::kKnownJob};
  if (request == nullptr) return {FoldVerdict::kUnknownJob};
  FoldResult made{FoldVerdict::kCounted};
  FleetJob& job = made.job.emplace();
  job.requested = entry.sequence;
  job.video = request->video;
  job.caller_node = request->caller_node;
  for (const OtherSaid& other : request->others) {
    FleetJob& another = made.others.emplace_back(other.id, job).second;
    another.place = static_cast<uint32_t>(made.others.size());
    another.video = other.video;
  }
  return made;
}

FoldVerdict JudgeKnown(FleetJob& job, const FoldEntry& entry) {
  if (std::holds_alternative<RequestSaid>(entry.said)) return FoldVerdict::kKnownJob;
  if (HasEnded(job.phase)) {
    const bool deletes = std::holds_alternative<DeleteSaid>(entry.said);
    return deletes ? Delete(job) : FoldVerdict::kEnded;
  }
  return std::visit([&](const auto& said) { return Judge(job, entry.subject.epoch, said); },
                    entry.said);
}

}  // namespace

bool IsVoid(FoldVerdict verdict) {
  return verdict != FoldVerdict::kCounted && verdict != FoldVerdict::kOld;
}

const char* NameOf(FoldVerdict verdict) {
  switch (verdict) {
    case FoldVerdict::kCounted:
      return "counted";
    case FoldVerdict::kOld:
      return "old";
    case FoldVerdict::kUnreadable:
      return "unreadable";
    case FoldVerdict::kUnknownJob:
      return "unknown_job";
    case FoldVerdict::kKnownJob:
      return "known_job";
    case FoldVerdict::kEnded:
      return "ended";
    case FoldVerdict::kWrongEpoch:
      return "wrong_epoch";
    case FoldVerdict::kNotClaimant:
      return "not_claimant";
    case FoldVerdict::kNotHeld:
      return "not_held";
    case FoldVerdict::kWishedBefore:
      return "wished_before";
    case FoldVerdict::kNotEnded:
      return "not_ended";
    case FoldVerdict::kBound:
      return "bound";
  }
  return "";
}

bool HasEnded(FleetPhase phase) {
  return phase != FleetPhase::kQueued && phase != FleetPhase::kClaimed;
}

FoldResult Judge(FoldRecords records, const FoldEntry& entry) {
  if (std::holds_alternative<UnreadableSaid>(entry.said)) return {FoldVerdict::kUnreadable};
  if (const auto* const binding = std::get_if<BindingSaid>(&entry.said)) {
    return Bind(records, entry, *binding);
  }
  if (!records.job) return JudgeUnknown(records, entry);
  FoldResult known{JudgeKnown(*records.job, entry)};
  if (known.verdict == FoldVerdict::kCounted) known.job = std::move(records.job);
  return known;
}

}  // namespace reel::front
