// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/media_body.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/api/shown_error.h"
#include "server/front/api/video_cursor.h"

namespace reel::front {
namespace {

// Larger numbers than a file can have mean its end all the same.
bool ReadDigits(absl::string_view text, int64_t& number) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isdigit(c);
  });
  if (!digits) return false;
  if (!absl::SimpleAtoi(text, &number)) number = std::numeric_limits<int64_t>::max();
  return true;
}

}  // namespace

std::optional<ByteRange> ParseByteRange(std::string_view field) {
  absl::string_view text(field.data(), field.size());
  const std::pair<absl::string_view, absl::string_view> unit =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (!absl::EqualsIgnoreCase(unit.first, "bytes")) return std::nullopt;
  const absl::string_view set = absl::StripAsciiWhitespace(unit.second);
  if (!absl::StrContains(set, '-')) return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(set, absl::MaxSplits('-', 1));
  ByteRange range;
  if (ends.first.empty()) {
    range.suffix = true;
    if (!ReadDigits(ends.second, range.first)) return std::nullopt;
    return range;
  }
  if (!ReadDigits(ends.first, range.first)) return std::nullopt;
  if (ends.second.empty()) return range;
  int64_t last = 0;
  if (!ReadDigits(ends.second, last) || last < range.first) return std::nullopt;
  range.last = last;
  return range;
}

namespace {

// What a stream holds of its file at a time.
constexpr int64_t kPieceBytes = 64 * 1024;

absl::Status Unsatisfied(int64_t first, int64_t size, bool final) {
  ErrorDetails details;
  details.metadata = {{"offset", absl::StrCat(first)}};
  // Of a file that grows no size is known.
  if (final) details.metadata["size"] = absl::StrCat(size);
  return MakeError(Reason::kOffsetPastEnd,
                   absl::StrCat("No byte of the range is there: it begins at ", first,
                                ", the file has ", size, " bytes", final ? "" : " so far"),
                   details);
}

absl::Status OtherAttempt(int wanted, int attempt) {
  return MakeError(
      Reason::kOtherAttempt,
      absl::StrCat("The video was started again: its file is of attempt ", attempt,
                   ", asked for was ", wanted),
      {.metadata = {{"wanted", absl::StrCat(wanted)}, {"attempt", absl::StrCat(attempt)}}});
}

std::string TagOf(std::string_view name) { return "\"" + std::string(name) + "\""; }

}  // namespace

MediaAsk MediaAskOf(const std::string& id, const DoorHead& head) {
  MediaAsk ask;
  ask.id = id;
  ask.head_only = head.method == "HEAD";
  if (head.Count("range") == 1) ask.range = ParseByteRange(head.Find("range"));
  ask.if_range = std::string(head.Find("if-range"));
  return ask;
}

MediaBody::MediaBody(std::shared_ptr<Job> job, MediaAsk ask)
    : job_(std::move(job)), ask_(std::move(ask)) {}

bool MediaBody::RangeCounts(const std::string& tag) const {
  return ask_.range && (ask_.if_range.empty() || ask_.if_range == tag);
}

void MediaBody::SetPartial(const std::string& content_range) {
  head_.status = 206;
  head_.Add("Content-Range", content_range);
}

absl::Status MediaBody::PlanFinished(int64_t size) {
  const std::string tag = TagOf(job_->Snapshot().media.sha256);
  head_.Add("ETag", tag);
  until_ = size;
  if (!RangeCounts(tag)) return absl::OkStatus();
  const ByteRange& range = *ask_.range;
  from_ = range.suffix ? std::max<int64_t>(0, size - range.first) : range.first;
  if (from_ >= size) return Unsatisfied(range.first, size, true);
  if (range.last && !range.suffix) until_ = std::min(size - 1, *range.last) + 1;
  SetPartial(absl::StrCat("bytes ", from_, "-", until_ - 1, "/", size));
  return absl::OkStatus();
}

absl::Status MediaBody::PlanGrowing(int64_t size) {
  const std::string tag = TagOf(absl::StrCat(ask_.id, ".", attempt_));
  head_.Add("ETag", tag);
  // How far from its end a file is that has none cannot be told.
  if (!RangeCounts(tag) || ask_.range->suffix) return absl::OkStatus();
  const ByteRange& range = *ask_.range;
  from_ = range.first;
  if (range.follows()) {
    SetPartial(absl::StrCat("bytes ", from_, "-", *range.last, "/*"));
    return absl::OkStatus();
  }
  if (from_ >= size) return Unsatisfied(range.first, size, false);
  until_ = (range.last ? std::min(size - 1, *range.last) : size - 1) + 1;
  SetPartial(absl::StrCat("bytes ", from_, "-", until_ - 1, "/*"));
  return absl::OkStatus();
}

absl::StatusOr<bool> MediaBody::Plan() {
  // Before the size: a file that is finished grows no more.
  const VideoState state = job_->state();
  attempt_ = job_->attempt();
  if (ask_.attempt != 0 && ask_.attempt != attempt_) return OtherAttempt(ask_.attempt, attempt_);
  finished_ = state == VideoState::kSucceeded;
  if (IsFinal(state) && !finished_) {
    DownloadRange range;
    range.id = ask_.id;
    return CheckDownload(*job_, range);
  }
  const int64_t size = job_->media_size();
  if (size == 0 && !finished_) return false;
  head_.Add("Content-Type", job_->Snapshot().media.content_type);
  head_.Add("Content-Disposition", absl::StrCat("inline; filename=\"reel-", ask_.id, ".mp4\""));
  head_.Add("Accept-Ranges", "bytes");
  head_.Add("Cache-Control", "private, no-cache");
  REEL_RETURN_IF_ERROR(finished_ ? PlanFinished(size) : PlanGrowing(size));
  offset_ = from_;
  return true;
}

StreamStep MediaBody::Next(std::string& bytes, absl::Status& end) {
  bytes.clear();
  if (!planned_) {
    const auto planned = Plan();
    if (!planned.ok()) {
      end = planned.status();
      return StreamStep::kEnd;
    }
    if (!*planned) return StreamStep::kWait;
    planned_ = true;
    if (ask_.head_only) return StreamStep::kMessage;
  }
  if (ask_.head_only || (until_ >= 0 && offset_ >= until_)) {
    end = absl::OkStatus();
    return StreamStep::kEnd;
  }
  // Read before the file: what ends a job comes after its last byte.
  const VideoState state = job_->state();
  const int64_t most = until_ < 0 ? kPieceBytes : std::min(kPieceBytes, until_ - offset_);
  auto piece = job_->ReadMedia(offset_, most);
  if (!piece.ok()) {
    end = piece.status();
    return StreamStep::kEnd;
  }
  if (piece->attempt != attempt_) {
    end = OtherAttempt(attempt_, piece->attempt);
    return StreamStep::kEnd;
  }
  if (!piece->bytes.empty()) {
    offset_ += static_cast<int64_t>(piece->bytes.size());
    bytes = std::move(piece->bytes);
    return StreamStep::kMessage;
  }
  if (piece->pending || !IsFinal(state)) return StreamStep::kWait;
  if (state != VideoState::kSucceeded) {
    const Video video = job_->Snapshot();
    end = WithVideo(video.error, video.id);
  } else if (until_ >= 0) {
    end = MakeError(Reason::kMediaCorrupt, "The stored file is shorter than it was");
  } else {
    end = absl::OkStatus();
  }
  return StreamStep::kEnd;
}

absl::Status MediaBody::Late() {
  DownloadRange range;
  range.id = ask_.id;
  const absl::Status why = CheckDownload(*job_, range);
  return why.ok() ? MakeError(Reason::kNoAnswer, "The video's file could not be read in time")
                  : why;
}

}  // namespace reel::front
