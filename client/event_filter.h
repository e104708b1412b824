// SPDX-License-Identifier: Apache-2.0
// Turns the messages of several tries of one stream into the events of one video: each once, and
// media without gaps. Free of gRPC.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "client/media_cursor.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// Confined to one thread.
class EventFilter {
 public:
  explicit EventFilter(bool without_media) : without_media_(without_media) {}

  // The position of a reader that has seen the part before.
  void StartAt(uint64_t sequence, int64_t media_offset, int attempt);

  // Appends new events to `events` (none, the event, or a synthetic `restarted` before it) and sets
  // `further` to whether the video progressed. UNAVAILABLE: the stream is wrong and must be
  // resumed. Any other error is final.
  absl::Status Take(v1::VideoEvent event, std::deque<v1::VideoEvent>& events, bool* further);

  bool finished() const { return finished_; }
  const std::string& name() const { return name_; }  // empty before `accepted`
  uint64_t sequence() const { return sequence_; }
  int64_t media_offset() const { return media_.offset(); }
  int attempt() const { return media_.attempt(); }
  int jobs() const { return jobs_; }  // jobs followed: more than one if jobs were lost

 private:
  absl::Status TakeAccepted(v1::VideoEvent event, std::deque<v1::VideoEvent>& events);
  absl::Status TakeMedia(v1::VideoEvent event, std::deque<v1::VideoEvent>& events, bool* further);
  absl::Status TakeFinished(v1::VideoEvent event, std::deque<v1::VideoEvent>& events);
  void Restart(const char* reason, int attempt, std::deque<v1::VideoEvent>& events);

  const bool without_media_;
  std::string name_;
  uint64_t sequence_ = 0;  // the last log event delivered
  MediaCursor media_;
  int jobs_ = 0;
  bool finished_ = false;
};

}  // namespace reel::client
