// SPDX-License-Identifier: Apache-2.0
// A video's log as server-sent events: what WatchVideo sends, with the file's growth instead of its
// bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "kernels/base/mutex.h"
#include "server/front/http/door_message.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// The JSON of what a video's readers are told at the same time, made once for all of them.
// Of progress alone: it is small, holds nothing of a request, and is most of what streams send.
// Thread-safe.
class ProgressTexts {
 public:
  using Text = std::shared_ptr<const std::string>;

  // Of the video's event `sequence`: what was made of it lately, or what `make` makes.
  Text Of(std::string_view video, uint64_t sequence, absl::FunctionRef<std::string()> make);

 private:
  struct Entry {
    std::string video;
    uint64_t sequence = 0;
    Text text;
  };
  static constexpr size_t kEntries = 64;  // the next one of its place takes it

  Mutex mutex_;
  std::array<Entry, kEntries> entries_ ABSL_GUARDED_BY(mutex_);
};

struct EventsAsk {
  uint64_t after_sequence = 0;
  bool previews = true;
};

// The id of `failed`: above every number of a log, and exact in JavaScript. A reader that has seen
// it has seen the end.
constexpr uint64_t kFailedEventId = (uint64_t{1} << 53) - 1;

// True when the video is final and `after_sequence` is at or behind its last event.
bool NothingFollows(const Job& job, uint64_t after_sequence);

// One event as text. `id` 0: none.
std::string EventText(std::string_view event, uint64_t id, std::string_view data);

class EventBody final : public DoorBody {
 public:
  EventBody(std::shared_ptr<Job> job, const EventsAsk& ask, std::shared_ptr<ProgressTexts> texts);

  StreamStep Next(std::string& bytes, absl::Status& end) override;
  DoorReply Head() const override;
  absl::Status Late() override;
  bool whole_anywhere() const override { return true; }
  // What tells of an end has all of the video in it.
  bool at_hand() const override { return any_ && !held_ && !IsFinal(job_->state()); }
  std::string video() const override { return id_; }

 private:
  // Whether the file has grown since it was last told; kPending: it has, and is not here yet.
  enum class Grown { kNo, kPending, kTold };
  Grown Growth(std::string& bytes);
  StreamStep NextHeld(std::string& bytes);
  std::string Text(v1::VideoEvent event);
  uint64_t IdOf(uint64_t sequence);

  const std::shared_ptr<Job> job_;
  const std::string id_;
  const std::shared_ptr<ProgressTexts> texts_;
  const bool previews_, fresh_;
  VideoCursor cursor_;
  uint64_t last_id_;
  std::optional<v1::VideoEvent> held_;  // comes behind the growth that it closes
  int attempt_;
  int64_t told_ = 0;  // bytes of `attempt_`
  std::string content_type_;
  bool any_ = false, failed_ = false;
};

}  // namespace reel::front
