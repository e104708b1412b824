// SPDX-License-Identifier: Apache-2.0
#include "client/event_filter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace reel::client {

void EventFilter::StartAt(uint64_t sequence, int64_t media_offset, int attempt) {
  sequence_ = sequence;
  media_.Start(media_offset, attempt);
}

absl::Status EventFilter::Take(v1::VideoEvent event, std::deque<v1::VideoEvent>& events,
                               bool* further) {
  *further = false;
  if (event.has_accepted()) return TakeAccepted(std::move(event), events);
  if (name_.empty()) {
    return absl::UnavailableError("The stream does not start with its video.");
  }
  if (event.has_media()) return TakeMedia(std::move(event), events, further);
  if (event.has_finished()) return TakeFinished(std::move(event), events);
  if (event.sequence() <= sequence_) return absl::OkStatus();  // a replay
  sequence_ = event.sequence();
  *further = true;
  if (event.has_restarted()) {
    if (event.restarted().attempt() <= media_.attempt()) return absl::OkStatus();
    media_.Restart(event.restarted().attempt());
  }
  events.push_back(std::move(event));
  return absl::OkStatus();
}

absl::Status EventFilter::TakeAccepted(v1::VideoEvent event, std::deque<v1::VideoEvent>& events) {
  const v1::Video& video = event.accepted();
  if (video.name() == name_) return absl::OkStatus();
  if (!name_.empty()) {
    // The job that was followed is gone, as its server could not keep it; this is another one.
    Restart("JOB_REPLACED", video.attempt(), events);
    sequence_ = 0;
  }
  name_ = video.name();
  ++jobs_;
  sequence_ = std::max(sequence_, event.sequence());
  events.push_back(std::move(event));
  return absl::OkStatus();
}

absl::Status EventFilter::TakeMedia(v1::VideoEvent event, std::deque<v1::VideoEvent>& events,
                                    bool* further) {
  v1::MediaChunk& chunk = *event.mutable_media();
  MediaCursor::Verdict verdict = media_.Take(chunk);
  if (verdict == MediaCursor::Verdict::kNewAttempt) {
    Restart("ATTEMPT_REPLACED", chunk.attempt(), events);
    verdict = media_.Take(chunk);
  }
  switch (verdict) {
    case MediaCursor::Verdict::kNew:
      *further = true;
      events.push_back(std::move(event));
      return absl::OkStatus();
    case MediaCursor::Verdict::kOld:
      return absl::OkStatus();
    case MediaCursor::Verdict::kCorrupt:
      return absl::UnavailableError(
          absl::StrCat("A part of the file was damaged in transit, at byte ", chunk.offset(), "."));
    default:
      return absl::UnavailableError(absl::StrCat("A part of the file is missing before byte ",
                                                 chunk.offset(), ", after ", media_.offset(), "."));
  }
}

absl::Status EventFilter::TakeFinished(v1::VideoEvent event, std::deque<v1::VideoEvent>& events) {
  if (!without_media_) {
    absl::Status complete = media_.CheckComplete(event.finished().media());
    if (!complete.ok()) return complete;
  }
  finished_ = true;
  sequence_ = event.sequence();
  events.push_back(std::move(event));
  return absl::OkStatus();
}

void EventFilter::Restart(const char* reason, int attempt, std::deque<v1::VideoEvent>& events) {
  media_.Restart(attempt);
  v1::VideoEvent restarted;
  restarted.set_sequence(sequence_);
  restarted.mutable_restarted()->set_reason(reason);
  restarted.mutable_restarted()->set_attempt(attempt);
  events.push_back(std::move(restarted));
}

}  // namespace reel::client
