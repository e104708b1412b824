// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/blame.h"

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

std::string KeyOf(const WorkShape& shape) {
  std::string key = absl::StrCat(shape.model, "\t", shape.plan, "\t", shape.frame_pixels);
  for (const model::PassWork& pass : shape.passes) {
    absl::StrAppend(&key, "\t", pass.tokens, "\t", pass.rows);
  }
  return key;
}

}  // namespace

void Quarantine::Blame(const WorkShape& shape, absl::Duration now) {
  // What is too old to count goes, so that the map is as small as the trouble.
  std::erase_if(losses_, [now](const auto& entry) { return entry.second.back() < now - kWindow; });
  std::vector<absl::Duration>& losses = losses_[KeyOf(shape)];
  std::erase_if(losses, [now](absl::Duration loss) { return loss < now - kWindow; });
  losses.push_back(now);
}

absl::Duration Quarantine::Left(const WorkShape& shape, absl::Duration now) const {
  const auto found = losses_.find(KeyOf(shape));
  if (found == losses_.end() || static_cast<int>(found->second.size()) < kLosses) {
    return absl::ZeroDuration();
  }
  return std::max(found->second.back() + kWindow - now, absl::ZeroDuration());
}

namespace {

constexpr int kMostKills = 5;
constexpr int kMostLosses = 2;

Verdict Fail(Verdict verdict, Reason reason, std::string message) {
  verdict.reason = reason;
  verdict.message = std::move(message);
  return verdict;
}

Verdict Again(Verdict verdict, bool alone) {
  verdict.again = true;
  verdict.alone = alone;
  return verdict;
}

}  // namespace

Verdict JudgeLoss(const WorkerLoss& loss, bool alone, const Losses& before) {
  Verdict verdict;
  verdict.losses = before;
  if (loss.cause == LossCause::kKilled || loss.cause == LossCause::kDevice) {
    if (++verdict.losses.kills <= kMostKills) return Again(std::move(verdict), alone);
    return Fail(std::move(verdict), Reason::kWorkerLost,
                "Six workers were killed, or lost their device, while they ran this video");
  }
  if (!loss.ran) return Again(std::move(verdict), alone);
  verdict.quarantine = loss.ran_alone;
  if (loss.ran_alone && loss.cause == LossCause::kHang) {
    return Fail(std::move(verdict), Reason::kWorkerFault,
                "The worker's device hung while it ran only this video");
  }
  if (loss.ran_alone && loss.cause == LossCause::kSticky) {
    return Fail(std::move(verdict), Reason::kWorkerFault,
                "The worker's device failed while it ran only this video");
  }
  if (++verdict.losses.losses < kMostLosses) return Again(std::move(verdict), true);
  return Fail(std::move(verdict), Reason::kWorkerLost,
              "The worker was lost, and so was the worker of the second attempt");
}

Verdict JudgeFailure(const JobFailed& failed, bool alone, const Losses& before) {
  const absl::Status& error = failed.error;
  Verdict verdict;
  verdict.losses = before;
  // It costs a worker, as a loss does that nobody announced.
  verdict.quarantine = failed.device_lost;
  verdict.reason = ReasonOf(error).value_or(Reason::kWorkerFault);
  const bool transient = absl::IsCancelled(error) || verdict.reason == Reason::kOutOfDeviceMemory ||
                         verdict.reason == Reason::kWorkerLost ||
                         verdict.reason == Reason::kWorkerFault;
  if (!failed.suspect && transient && !alone && ++verdict.losses.losses < kMostLosses) {
    return Again(std::move(verdict), true);
  }
  return Fail(std::move(verdict), verdict.reason, std::string(error.message()));
}

}  // namespace reel::front
