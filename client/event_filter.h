// SPDX-License-Identifier: Apache-2.0
// Turns the messages of several tries of one stream into the events of one video, each once and
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

  // Where a reader joins that has seen the part before.
  void StartAt(uint64_t sequence, int64_t media_offset, int attempt);

  // Appends what is new to `events` (nothing, the event, or a made-up `restarted` before it) and
  // says in `further` whether the video is now further than ever. UNAVAILABLE: the stream is not as
  // it should be and must be joined again. Any other error is final.
  absl::Status Take(v1::VideoEvent event, std::deque<v1::VideoEvent>& events, bool* further);

  bool finished() const { return finished_; }
  const std::string& name() const { return name_; }  // empty before `accepted`
  uint64_t sequence() const { return sequence_; }
  int64_t media_offset() const { return media_.offset(); }
  int attempt() const { return media_.attempt(); }
  int jobs() const { return jobs_; }  // that were followed: more than one when jobs were lost

 private:
  absl::Status TakeAccepted(v1::VideoEvent event, std::deque<v1::VideoEvent>& events);
  absl::Status TakeMedia(v1::VideoEvent event, std::deque<v1::VideoEvent>& events, bool* further);
  absl::Status TakeFinished(v1::VideoEvent event, std::deque<v1::VideoEvent>& events);
  void Restart(const char* reason, int attempt, std::deque<v1::VideoEvent>& events);

  const bool without_media_;
  std::string name_;
  uint64_t sequence_ = 0;  // of the last log event delivered
  MediaCursor media_;
  int jobs_ = 0;
  bool finished_ = false;
};

}  // namespace reel::client
