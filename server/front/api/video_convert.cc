// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/video_convert.h"

#include <algorithm>
#include <utility>

#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

static_assert(EnumToProto<v1::Priority>(Priority::kHigh) == v1::PRIORITY_HIGH);
static_assert(EnumToProto<v1::VideoState>(VideoState::kCancelled) == v1::VIDEO_STATE_CANCELLED);

constexpr char kNamePrefix[] = "videos/";
constexpr size_t kListedPromptBytes = 256;

absl::Time TimeFromProto(bool has, const google::protobuf::Timestamp& proto) {
  if (!has) return absl::InfinitePast();
  return absl::FromUnixSeconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

v1::Progress ProgressToProto(const Progress& progress) {
  v1::Progress proto;
  proto.set_stage(StageToProto(progress.stage));
  proto.set_step(progress.step);
  proto.set_num_steps(progress.num_steps);
  proto.set_fraction(progress.fraction);
  SetProtoDuration(*proto.mutable_remaining(), std::max(progress.remaining, absl::ZeroDuration()));
  proto.set_queue_position(progress.queue_position);
  return proto;
}

Progress ProgressFromProto(const v1::Progress& proto) {
  return {StageFromProto(proto.stage()),
          proto.step(),
          proto.num_steps(),
          proto.fraction(),
          FromProtoDuration(proto.remaining()),
          proto.queue_position()};
}

void SetTimes(const Video& video, v1::Video& proto) {
  const auto known = [](absl::Time time) {
    return time != absl::InfinitePast() && time != absl::InfiniteFuture();
  };
  if (known(video.create_time)) *proto.mutable_create_time() = TimeToProto(video.create_time);
  if (known(video.start_time)) *proto.mutable_start_time() = TimeToProto(video.start_time);
  if (known(video.end_time)) *proto.mutable_end_time() = TimeToProto(video.end_time);
  if (known(video.expire_time)) *proto.mutable_expire_time() = TimeToProto(video.expire_time);
  if (known(video.deadline)) *proto.mutable_deadline() = TimeToProto(video.deadline);
}

void SetKept(const KeptState& kept, v1::Video& proto) {
  proto.set_state_size_bytes(kept.size_bytes);
  proto.set_state_sha256(kept.sha256);
  if (kept.expire_time != absl::InfiniteFuture()) {
    *proto.mutable_state_expire_time() = TimeToProto(kept.expire_time);
  }
}

std::optional<KeptState> KeptFromProto(const v1::Video& proto) {
  if (proto.state_size_bytes() <= 0) return std::nullopt;
  KeptState kept{proto.state_size_bytes(), proto.state_sha256()};
  if (proto.has_state_expire_time()) {
    kept.expire_time = TimeFromProto(true, proto.state_expire_time());
  }
  return kept;
}

}  // namespace

google::protobuf::Timestamp TimeToProto(absl::Time time) {
  google::protobuf::Timestamp proto;
  const int64_t seconds = absl::ToUnixSeconds(time);
  proto.set_seconds(seconds);
  proto.set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
  return proto;
}

VideoState StateFromProto(v1::VideoState proto) {
  const bool known = proto >= v1::VIDEO_STATE_QUEUED && proto <= v1::VIDEO_STATE_CANCELLED;
  return known ? static_cast<VideoState>(proto - v1::VIDEO_STATE_QUEUED) : VideoState::kQueued;
}

Priority PriorityFromProto(v1::Priority proto) {
  if (proto == v1::PRIORITY_LOW) return Priority::kLow;
  return proto == v1::PRIORITY_HIGH ? Priority::kHigh : Priority::kNormal;
}

std::string CutUtf8(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

v1::Video VideoToProto(const Video& video) {
  v1::Video proto;
  if (!video.id.empty()) proto.set_name(kNamePrefix + video.id);
  proto.set_state(EnumToProto<v1::VideoState>(video.state));
  *proto.mutable_spec() = SpecToProto(video.spec);
  SetTimes(video, proto);
  *proto.mutable_progress() = ProgressToProto(video.progress);
  if (!video.error.ok()) proto.mutable_error()->ParseFromString(SerializeError(video.error));
  *proto.mutable_media() = MediaToProto(video.media);
  if (video.stats) {
    *proto.mutable_stats() = StatsToProto(*video.stats);
    const model::KernelSelection& kernels = video.spec.kernels;
    if (!kernels.experiment.empty() && kernels.experiment != "-") {
      proto.mutable_stats()->set_experiment(kernels.experiment);
      proto.mutable_stats()->set_arm(kernels.arm);
    }
  }
  proto.set_request_id(video.request_id);
  proto.set_priority(EnumToProto<v1::Priority>(video.priority));
  proto.mutable_labels()->insert(video.labels.begin(), video.labels.end());
  proto.set_attempt(video.attempt);
  proto.set_worker(video.worker);
  proto.set_trace_id(video.trace_id);
  for (const model::Notice& notice : video.notices) *proto.add_notices() = NoticeToProto(notice);
  if (video.spec.source) proto.set_source_video(video.spec.source->video);
  if (video.kept) SetKept(*video.kept, proto);
  proto.mutable_continued_by()->Add(video.continued_by.begin(), video.continued_by.end());
  return proto;
}

v1::Video VideoToListProto(const Video& video) {
  v1::Video proto = VideoToProto(video);
  v1::VideoSpec& spec = *proto.mutable_spec();
  spec.set_prompt(CutUtf8(spec.prompt(), kListedPromptBytes));
  if (spec.has_negative_prompt()) {
    spec.set_negative_prompt(CutUtf8(spec.negative_prompt(), kListedPromptBytes));
  }
  proto.clear_stats();
  return proto;
}

Video VideoFromProto(const v1::Video& proto) {
  Video video;
  const std::string& name = proto.name();
  if (name.size() > std::size(kNamePrefix) - 1) video.id = name.substr(std::size(kNamePrefix) - 1);
  video.state = StateFromProto(proto.state());
  video.spec = SpecFromProto(proto.spec());
  video.create_time = TimeFromProto(proto.has_create_time(), proto.create_time());
  video.start_time = TimeFromProto(proto.has_start_time(), proto.start_time());
  video.end_time = TimeFromProto(proto.has_end_time(), proto.end_time());
  video.expire_time = TimeFromProto(proto.has_expire_time(), proto.expire_time());
  video.deadline = TimeFromProto(proto.has_deadline(), proto.deadline());
  video.progress = ProgressFromProto(proto.progress());
  if (proto.has_error()) video.error = ParseError(proto.error().SerializeAsString());
  video.media = MediaFromProto(proto.media());
  if (proto.has_stats()) video.stats = StatsFromProto(proto.stats());
  video.request_id = proto.request_id();
  video.priority = PriorityFromProto(proto.priority());
  video.labels = {proto.labels().begin(), proto.labels().end()};
  video.attempt = proto.attempt();
  video.worker = proto.worker();
  video.trace_id = proto.trace_id();
  for (const v1::Notice& notice : proto.notices()) video.notices.push_back(NoticeFromProto(notice));
  video.kept = KeptFromProto(proto);
  video.continued_by = {proto.continued_by().begin(), proto.continued_by().end()};
  return video;
}

v1::VideoEvent EntryToProto(LogEntry entry, const Job& job) {
  v1::VideoEvent proto;
  proto.set_sequence(entry.sequence);
  *proto.mutable_time() = TimeToProto(entry.time);
  if (std::holds_alternative<AcceptedEvent>(entry.event)) {
    *proto.mutable_accepted() = VideoToProto(job.Snapshot());
  } else if (const auto* progress = std::get_if<ProgressEvent>(&entry.event)) {
    *proto.mutable_progress() = ProgressToProto(progress->progress);
  } else if (auto* preview = std::get_if<PreviewEvent>(&entry.event)) {
    proto.mutable_preview()->set_step(preview->step);
    proto.mutable_preview()->set_image(std::move(preview->jpeg));
    proto.mutable_preview()->set_width(preview->width);
    proto.mutable_preview()->set_height(preview->height);
  } else if (const auto* restarted = std::get_if<RestartedEvent>(&entry.event)) {
    proto.mutable_restarted()->set_reason(restarted->reason);
    proto.mutable_restarted()->set_attempt(restarted->attempt);
  } else {
    *proto.mutable_finished() = VideoToProto(job.Snapshot());
  }
  return proto;
}

std::optional<LogEntry> EntryFromProto(v1::VideoEvent& proto) {
  LogEntry entry;
  entry.sequence = proto.sequence();
  entry.time = TimeFromProto(proto.has_time(), proto.time());
  switch (proto.event_case()) {
    case v1::VideoEvent::kAccepted:
      entry.event = AcceptedEvent{};
      return entry;
    case v1::VideoEvent::kProgress:
      entry.event = ProgressEvent{ProgressFromProto(proto.progress())};
      return entry;
    case v1::VideoEvent::kPreview: {
      v1::Preview& preview = *proto.mutable_preview();
      entry.event = PreviewEvent{preview.step(), std::move(*preview.mutable_image()),
                                 preview.width(), preview.height()};
      return entry;
    }
    case v1::VideoEvent::kRestarted:
      entry.event = RestartedEvent{proto.restarted().reason(), proto.restarted().attempt()};
      return entry;
    case v1::VideoEvent::kFinished:
      entry.event = FinishedEvent{};
      return entry;
    default:
      return std::nullopt;
  }
}

}  // namespace reel::front
