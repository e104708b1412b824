// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/event_body.h"

#include <functional>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/http/door_error.h"
#include "server/front/http/door_json.h"

namespace reel::front {

ProgressTexts::Text ProgressTexts::Of(std::string_view video, uint64_t sequence,
                                      absl::FunctionRef<std::string()> make) {
  const size_t place = (std::hash<std::string_view>()(video) + sequence) % kEntries;
  {
    MutexLock lock(mutex_);
    const Entry& entry = entries_[place];
    if (entry.text != nullptr && entry.sequence == sequence && entry.video == video) {
      return entry.text;
    }
  }
  auto text = std::make_shared<const std::string>(make());
  MutexLock lock(mutex_);
  entries_[place] = {std::string(video), sequence, text};
  return text;
}

namespace {

constexpr char kFirstLine[] = "retry: 2000\n\n";

WatchPoint PointOf(const EventsAsk& ask) {
  WatchPoint from;
  from.after_sequence = ask.after_sequence;
  from.without_media = true;
  return from;
}

const char* NameOf(const v1::VideoEvent& event) {
  switch (event.event_case()) {
    case v1::VideoEvent::kAccepted:
      return "accepted";
    case v1::VideoEvent::kProgress:
      return "progress";
    case v1::VideoEvent::kPreview:
      return "preview";
    case v1::VideoEvent::kRestarted:
      return "restarted";
    case v1::VideoEvent::kFinished:
      return "finished";
    default:
      return "";
  }
}

}  // namespace

bool NothingFollows(const Job& job, uint64_t after_sequence) {
  const VideoState state = job.state();
  if (!IsFinal(state)) return false;
  if (state != VideoState::kSucceeded) return after_sequence >= kFailedEventId;
  auto entry = job.NextEntry(0);
  while (entry && !std::holds_alternative<FinishedEvent>(entry->event)) {
    entry = job.NextEntry(entry->sequence);
  }
  return entry && after_sequence >= entry->sequence;
}

std::string EventText(std::string_view event, uint64_t id, std::string_view data) {
  std::string text = absl::StrCat("event: ", absl::string_view(event.data(), event.size()), "\n");
  if (id != 0) absl::StrAppend(&text, "id: ", id, "\n");
  absl::StrAppend(&text, "data: ", absl::string_view(data.data(), data.size()), "\n\n");
  return text;
}

EventBody::EventBody(std::shared_ptr<Job> job, const EventsAsk& ask,
                     std::shared_ptr<ProgressTexts> texts)
    : job_(std::move(job)),
      id_(job_->Snapshot().id),
      texts_(std::move(texts)),
      previews_(ask.previews),
      fresh_(ask.after_sequence == 0),
      cursor_(job_, PointOf(ask)),
      last_id_(ask.after_sequence),
      attempt_(job_->attempt()) {}

uint64_t EventBody::IdOf(uint64_t sequence) {
  if (sequence <= last_id_) return 0;
  last_id_ = sequence;
  return sequence;
}

std::string EventBody::Text(v1::VideoEvent event) {
  const uint64_t sequence = event.sequence();
  const bool accepted = event.has_accepted();
  if (event.has_restarted()) {
    attempt_ = event.restarted().attempt();
    told_ = 0;
    content_type_.clear();
  }
  event.clear_sequence();
  event.clear_time();
  // A replayed `accepted` would send the id that a browser remembers back to 1.
  const uint64_t id = accepted && !fresh_ ? 0 : IdOf(sequence);
  if (!event.has_progress()) return EventText(NameOf(event), id, WriteJson(event));
  const auto made = texts_->Of(id_, sequence, [&] { return WriteJson(event); });
  return EventText(NameOf(event), id, *made);
}

EventBody::Grown EventBody::Growth(std::string& bytes) {
  const int64_t size = job_->media_size();
  if (size <= told_ || job_->attempt() != attempt_) return Grown::kNo;
  const auto last = job_->ReadMedia(size - 1, 1);
  if (!last.ok() || last->attempt != attempt_) return Grown::kNo;
  if (last->pending) return Grown::kPending;
  if (content_type_.empty()) content_type_ = job_->Snapshot().media.content_type;
  const nlohmann::json media = {{"media",
                                 {{"offset", absl::StrCat(told_)},
                                  {"size", absl::StrCat(size)},
                                  {"fragmentEnd", last->fragment_end},
                                  {"attempt", attempt_},
                                  {"contentType", content_type_}}}};
  told_ = size;
  bytes = EventText("media", 0, media.dump());
  return Grown::kTold;
}

StreamStep EventBody::NextHeld(std::string& bytes) {
  const Grown grown = Growth(bytes);
  if (grown == Grown::kPending) return StreamStep::kWait;
  if (grown == Grown::kNo) bytes = Text(*std::exchange(held_, std::nullopt));
  return StreamStep::kMessage;
}

StreamStep EventBody::Next(std::string& bytes, absl::Status& end) {
  if (held_) return NextHeld(bytes);
  if (failed_) {
    end = absl::OkStatus();
    return StreamStep::kEnd;
  }
  if (any_ && Growth(bytes) == Grown::kTold) return StreamStep::kMessage;
  v1::VideoEvent event;
  StreamStep step = cursor_.Next(event, end);
  while (step == StreamStep::kMessage && event.has_preview() && !previews_) {
    step = cursor_.Next(event, end);
  }
  if (step == StreamStep::kEnd && !end.ok()) {
    failed_ = true;
    bytes = EventText("failed", IdOf(kFailedEventId), "{\"error\":" + ErrorJson(end) + "}");
    return StreamStep::kMessage;
  }
  if (step != StreamStep::kMessage) {
    // A reader that joined behind the last `restarted` goes over to the new attempt without it.
    if (step == StreamStep::kWait && job_->attempt() != attempt_) {
      attempt_ = job_->attempt();
      told_ = 0;
      if (Growth(bytes) == Grown::kTold) return StreamStep::kMessage;
    }
    return step;
  }
  // Whatever was written is told before the end.
  if (event.has_finished()) {
    held_ = std::move(event);
    return NextHeld(bytes);
  }
  bytes = (any_ ? "" : kFirstLine) + Text(std::move(event));
  any_ = true;
  return StreamStep::kMessage;
}

DoorReply EventBody::Head() const {
  DoorReply reply;
  reply.Add("Content-Type", "text/event-stream");
  reply.Add("Cache-Control", "no-store");
  reply.Add("X-Accel-Buffering", "no");
  return reply;
}

absl::Status EventBody::Late() {
  return MakeError(Reason::kNoAnswer, "The video's log could not be read in time");
}

}  // namespace reel::front
