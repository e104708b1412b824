// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_bodies.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "server/front/api/shown_error.h"
#include "server/front/http/facade_video.h"

namespace reel::front {

VideoOnceFinal::VideoOnceFinal(std::shared_ptr<Job> job, DoorReply head, std::string notice)
    : job_(std::move(job)),
      id_(job_->Snapshot().id),
      notice_(std::move(notice)),
      head_(std::move(head)) {}

absl::Status VideoOnceFinal::Late() {
  late_ = true;
  return absl::OkStatus();
}

StreamStep VideoOnceFinal::Next(std::string& bytes, absl::Status& end) {
  if (told_) {
    end = absl::OkStatus();
    return StreamStep::kEnd;
  }
  if (!late_ && !IsFinal(job_->state())) return StreamStep::kWait;
  told_ = true;
  bytes = FacadeVideoJson(job_->Snapshot(), notice_);
  length_ = static_cast<int64_t>(bytes.size());
  return StreamStep::kMessage;
}

FinishedMedia::FinishedMedia(std::shared_ptr<Job> job, MediaAsk ask)
    : job_(job), media_(std::move(job), std::move(ask)) {}

StreamStep FinishedMedia::Next(std::string& bytes, absl::Status& end) {
  const VideoState state = job_->state();
  if (!IsFinal(state)) return StreamStep::kWait;
  if (state == VideoState::kSucceeded) return media_.Next(bytes, end);
  const Video video = job_->Snapshot();
  end = WithVideo(video.error, video.id);
  return StreamStep::kEnd;
}

DoorReply FinishedMedia::Head() const {
  DoorReply head = media_.Head();
  const Video video = job_->Snapshot();
  head.Add("X-Model", video.spec.model);
  if (!video.stats) return head;
  head.Add("Server-Timing", ServerTimingOf(*video.stats));
  head.Add("X-Inference-Time-S", absl::StrFormat("%.3f", InferenceSecondsOf(*video.stats)));
  return head;
}

}  // namespace reel::front
