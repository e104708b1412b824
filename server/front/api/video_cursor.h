// SPDX-License-Identifier: Apache-2.0
// The order of a video's stream: a cursor over a job's log and file. Knows nothing of gRPC, so its
// rules are tested alone.
//
//   accepted first; then log entries as they come, and the file's bytes wherever the log has no
//   next entry; `restarted` sends the file back to its start; `finished` waits for the last byte.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "reel/v1/video.pb.h"
#include "server/front/api/request_convert.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// Checks that a stream over a video can begin where its reader asks. FAILED_PRECONDITION
// VIDEO_NOT_READY before success, OUT_OF_RANGE past the end.
absl::Status CheckDownload(const Job& job, const DownloadRange& range);
// OUT_OF_RANGE when the video is final and the offset lies past its end.
absl::Status CheckWatch(const Job& job, const WatchPoint& from);

// What a stream does next.
enum class StreamStep {
  kWait,     // nothing yet: a Wake will tell
  kMessage,  // send what was written into the message
  kEnd,      // end with the status
};

constexpr int64_t kMaxChunkBytes = 256 * 1024;

// Confined to its stream, that is, used under the stream's lock.
class VideoCursor {
 public:
  // `from.id` is not looked at.
  VideoCursor(std::shared_ptr<Job> job, const WatchPoint& from);

  // Fills `event` for kMessage, `end` for kEnd. Never waits.
  StreamStep Next(v1::VideoEvent& event, absl::Status& end);

 private:
  // `pending`: what is not there yet is to be waited for.
  StreamStep NextMedia(v1::VideoEvent& event, absl::Status& end, bool& pending);
  StreamStep Emit(LogEntry entry, v1::VideoEvent& event);
  // The entry that ends the log of a success, however far `after_sequence` reached.
  std::optional<LogEntry> FindFinished() const;
  // Where the file continues for a reader that asked for `wanted_offset_` of `wanted_attempt_`.
  int64_t OffsetIn(int attempt) const { return attempt == wanted_attempt_ ? wanted_offset_ : 0; }

  const std::shared_ptr<Job> job_;
  const bool without_media_;
  const int wanted_attempt_;
  const int64_t wanted_offset_;
  uint64_t sequence_;  // of the last log entry that was passed
  int attempt_;        // whose bytes are sent
  int64_t offset_;     // next byte of it
  bool accepted_ = false;
  bool finished_ = false;
};

// The file's bytes as the API carries them.
v1::MediaChunk ChunkToProto(MediaPiece piece);

}  // namespace reel::front
