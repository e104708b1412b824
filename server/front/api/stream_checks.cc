// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/stream_checks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

absl::Status PastEnd(const char* field, int64_t offset, int64_t size) {
  ErrorDetails details;
  details.metadata = {
      {"field", field}, {"offset", absl::StrCat(offset)}, {"size", absl::StrCat(size)}};
  return MakeError(Reason::kOffsetPastEnd,
                   absl::StrCat("The offset lies past the end of the file: ", field, " is ", offset,
                                ", the file has ", size, " bytes; the size itself is legal"),
                   details);
}

const char* StateName(VideoState state) {
  switch (state) {
    case VideoState::kQueued:
      return "QUEUED";
    case VideoState::kRunning:
      return "RUNNING";
    case VideoState::kSucceeded:
      return "SUCCEEDED";
    case VideoState::kFailed:
      return "FAILED";
    case VideoState::kCancelled:
      return "CANCELLED";
  }
  return "";
}

}  // namespace

absl::Status CheckDownload(const Job& job, const DownloadRange& range) {
  const Video video = job.Snapshot();
  if (video.state != VideoState::kSucceeded) {
    const std::string name = "videos/" + video.id;
    ErrorDetails details;
    details.metadata = {{"video", name}, {"state", StateName(video.state)}};
    details.precondition_type = "STATE";
    details.precondition_subject = name;
    details.precondition_description = "must be SUCCEEDED";
    return MakeError(Reason::kVideoNotReady,
                     absl::StrCat("Only a finished video can be downloaded; its state is ",
                                  StateName(video.state)),
                     details);
  }
  const int64_t size = job.media_size();
  return range.offset > size ? PastEnd("read_offset", range.offset, size) : absl::OkStatus();
}

absl::Status CheckWatch(const Job& job, const WatchPoint& from) {
  const bool counts = from.attempt == 0 || from.attempt == job.attempt();
  if (from.without_media || !counts || job.state() != VideoState::kSucceeded) {
    return absl::OkStatus();
  }
  const int64_t size = job.media_size();
  return from.media_offset > size ? PastEnd("media_offset", from.media_offset, size)
                                  : absl::OkStatus();
}

}  // namespace reel::front
