// SPDX-License-Identifier: Apache-2.0
// A video's file, whole, in ranges, or while it grows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/front/http/door_message.h"
#include "server/front/jobs/job.h"

namespace reel::front {

// The Range field of a request for media.
struct ByteRange {
  int64_t first = 0;
  std::optional<int64_t> last;  // none: open
  bool suffix = false;          // the last `first` bytes

  // RFC 8673: from `first` on, for as long as the file grows.
  bool follows() const { return last && *last >= (int64_t{1} << 53) - 1; }
};

// None where the field is to be passed over: another unit, several ranges, no such text.
std::optional<ByteRange> ParseByteRange(std::string_view field);

struct MediaAsk {
  std::string id;
  std::optional<ByteRange> range;
  std::string if_range;  // empty: none
  int attempt = 0;       // 0: whichever it is
  bool head_only = false;
};

// What the fields of a request's head ask for.
MediaAsk MediaAskOf(const std::string& id, const DoorHead& head);

// Waits for the first byte of a video that has none. What its reader gets is one attempt's file: a
// restart or a failure breaks the reply off.
class MediaBody final : public DoorBody {
 public:
  MediaBody(std::shared_ptr<Job> job, MediaAsk ask);

  StreamStep Next(std::string& bytes, absl::Status& end) override;
  DoorReply Head() const override { return head_; }
  int64_t Length() const override { return until_ < 0 ? -1 : until_ - from_; }
  absl::Status Late() override;
  bool whole_anywhere() const override { return false; }
  std::string video() const override { return ask_.id; }

 private:
  // Decides on the reply from the file as it is. False: nothing is there yet.
  absl::StatusOr<bool> Plan();
  absl::Status PlanFinished(int64_t size);
  absl::Status PlanGrowing(int64_t size);
  void SetPartial(const std::string& content_range);
  bool RangeCounts(const std::string& tag) const;

  const std::shared_ptr<Job> job_;
  const MediaAsk ask_;
  DoorReply head_;
  bool planned_ = false;
  bool finished_ = false;  // when planned
  int attempt_ = 0;
  int64_t from_ = 0, until_ = -1;  // negative: to the end of the file
  int64_t offset_ = 0;
};

}  // namespace reel::front
