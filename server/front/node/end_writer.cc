// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/end_writer.h"

#include <optional>

#include "server/errors/error.h"
#include "server/front/fleet/log_messages.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

using Outcome = WriteResult::Outcome;

// The fold shows an earlier message far sooner. A claim that comes too soon is void and harmless.
constexpr absl::Duration kForeignPatience = absl::Seconds(1);
constexpr absl::Duration kRivalPatience = absl::Seconds(10);
// Gives up against a writer that takes this many epochs.
constexpr int kMostClaimsOfAnEnd = 8;

}  // namespace

const char* TextOf(ReleaseReason why) {
  switch (why) {
    case ReleaseReason::kShutdown:
      return "the node shuts down";
    case ReleaseReason::kRestart:
      return "the node was started anew";
    case ReleaseReason::kLease:
      return "the lease was over";
    case ReleaseReason::kDelivery:
      return "the result could not be brought into the store";
    case ReleaseReason::kUnfit:
      return "the node cannot render for now";
    case ReleaseReason::kNoRoom:
      return "the node's disk did not take the result";
  }
  return "";
}

std::string ReasonOfEnd(const Video& video) {
  const std::optional<Reason> reason = ReasonOf(video.error);
  return std::string(reason ? Describe(*reason).name : "");
}

bool EndWriter::IsMine(const Key& key, uint32_t epoch) const {
  const KnownVideo* const known = state_.index.FindLive(key);
  return known != nullptr && known->phase == FleetPhase::kClaimed && known->epoch == epoch &&
         known->owner == state_.options.node;
}

void EndWriter::Write(Ending ending, int round) {
  const auto& [key, epoch] = ending.claim;
  const LogSubject subject{key.first, key.second, LogKind::kFinish, epoch};
  std::string message = WriteFinish(ending.said, ending.reason);
  ports_.Write(subject, std::move(message), absl::InfiniteDuration(),
               [this, ending = std::move(ending), round](const auto& written) mutable {
                 OnWritten(std::move(ending), round, written);
               });
}

void EndWriter::OnWritten(Ending ending, int round, const absl::StatusOr<WriteResult>& written) {
  const Claim claim = ending.claim;
  if (!written.ok()) {
    Log(LogLevel::kError, "The end of a video cannot be written into the fleet's log",
        {{"video", claim.first.second}, {"error", written.status()}});
    if (ending.said.kind != FinishKind::kReleased) WriteWithoutVideo(claim);
  }
  const bool won = written.ok() && written->outcome == Outcome::kWon;
  const bool lost = written.ok() && written->outcome == Outcome::kLost;
  const uint64_t sequence = won ? written->sequence : 0;
  state_.waiters.Add(
      [this, claim, sequence] {
        return ports_.view.ready() && ports_.view.position() >= sequence &&
               !IsMine(claim.first, claim.second);
      },
      // A stored message is folded eventually, however long the log is unreachable.
      lost ? ports_.clock.Monotonic() + kForeignPatience : absl::InfiniteDuration(),
      [this, lost, round, ending = std::move(ending)](bool over) mutable {
        if (!over && lost) return ClaimNext(std::move(ending), round + 1);
        Tell(ending);
      });
}

void EndWriter::WriteWithoutVideo(const Claim& claim) {
  const auto& [key, epoch] = claim;
  ports_.writes.Put({key.first, key.second, LogKind::kFinish, epoch},
                    WriteFinish({state_.options.node, FinishKind::kFailed}, "INTERNAL"),
                    absl::InfiniteDuration(), [](const absl::StatusOr<WriteResult>&) {});
}

void EndWriter::ClaimNext(Ending ending, int round) {
  const Key key = ending.claim.first;
  const uint32_t epoch = ending.claim.second + 1;
  Log(LogLevel::kWarning,
      "Something else was written where this node's end of a video belongs; it claims the video "
      "once more",
      {{"video", key.second}, {"epoch", uint64_t{epoch}}});
  if (round > kMostClaimsOfAnEnd) return Tell(ending);
  const ClaimSaid claim{state_.options.node, state_.options.address, true};
  auto claimed = [this, key, epoch, round, ending = std::move(ending)](bool) mutable {
    if (!IsMine(key, epoch)) return Tell(ending);
    ending.claim.second = epoch;
    Write(std::move(ending), round);
  };
  ports_.Write({key.first, key.second, LogKind::kClaim, epoch}, WriteClaim(claim),
               absl::InfiniteDuration(),
               [this, key, epoch, claimed = std::move(claimed)](const auto& written) mutable {
                 const bool won = written.ok() && written->outcome == Outcome::kWon;
                 state_.waiters.Add(
                     [this, key, epoch] {
                       const KnownVideo* const known = state_.index.FindLive(key);
                       const bool over = known == nullptr || known->epoch >= epoch;
                       return ports_.view.ready() && over;
                     },
                     won ? absl::InfiniteDuration() : ports_.clock.Monotonic() + kRivalPatience,
                     std::move(claimed));
               });
}

// Only the view decides whether the end counts, whatever the log answered.
void EndWriter::Tell(Ending& ending) const {
  const std::optional<ViewVideo> ended = ports_.view.FindVideo(ending.claim.first);
  ending.done(ended && !ended->live() && ended->job.epoch == ending.claim.second &&
              ended->job.owner == state_.options.node);
}

}  // namespace reel::front
