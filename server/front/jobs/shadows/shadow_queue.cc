// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/shadows/shadow_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "server/front/jobs/experiment_board.h"

namespace reel::front {
namespace {

// By the video's own name, and apart from what has drawn its arm.
bool IsDrawn(const ExperimentOptions& experiment, const std::string& video) {
  const Sha256Digest digest = Sha256Of(absl::StrCat("shadow\n", experiment.name, "\n", video));
  uint32_t bits = 0;
  for (size_t i = 0; i < 4; ++i) bits = bits << 8 | digest[i];
  return static_cast<double>(bits) / 4294967296.0 < experiment.shadow_share;
}

}  // namespace

void ShadowQueue::Ended(const Video& video) {
  if (video.state != VideoState::kSucceeded || !video.spec.conditions.empty()) return;
  if (video.spec.source) return;  // its state may be gone
  for (const ExperimentOptions& experiment : experiments_) {
    if (experiment.name != video.spec.kernels.experiment || experiment.arms.size() != 2) continue;
    const auto failures = failures_.find(experiment.name);
    if (failures != failures_.end() && failures->second >= kMostFailures) return;
    if (!IsDrawn(experiment, video.id)) return;
    for (size_t arm = 0; arm < 2; ++arm) {
      if (experiment.arms[arm].name != video.spec.kernels.arm) continue;
      ShadowCandidate candidate;
      candidate.experiment = experiment.name;
      candidate.arm = arm;
      candidate.other = experiment.arms[1 - arm];
      candidate.video = video.id;
      candidate.attempt = video.attempt;
      candidate.sha256 = video.media.sha256;
      candidate.spec = video.spec;
      candidate.spec.keep_state = false;
      candidate.worker = video.worker;
      if (video.stats) candidate.seconds = SoloStepSeconds(*video.stats);
      Add(std::move(candidate));
    }
  }
}

void ShadowQueue::Add(ShadowCandidate candidate) {
  waiting_.push_front(std::move(candidate));
  if (waiting_.size() > kMost) waiting_.pop_back();
}

std::optional<ShadowCandidate> ShadowQueue::Take(
    absl::FunctionRef<bool(const ShadowCandidate&)> suits) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), suits);
  if (found == waiting_.end()) return std::nullopt;
  ShadowCandidate taken = std::move(*found);
  waiting_.erase(found);
  return taken;
}

void ShadowQueue::PutBack(ShadowCandidate candidate) {
  if (++candidate.given_up < kMostTries) Add(std::move(candidate));
}

bool ShadowQueue::NoteEnd(const std::string& experiment, bool failed) {
  int& failures = failures_[experiment];
  failures = failed ? failures + 1 : 0;
  if (failures < kMostFailures) return false;
  std::erase_if(waiting_, [&](const auto& waiting) { return waiting.experiment == experiment; });
  return true;
}

}  // namespace reel::front
