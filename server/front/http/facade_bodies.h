// SPDX-License-Identifier: Apache-2.0
// Replies of the facade that wait for a video.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/front/http/media_body.h"

namespace reel::front {

// The video as JSON, once it is final, or when it was waited for long enough.
class VideoOnceFinal final : public DoorBody {
 public:
  VideoOnceFinal(std::shared_ptr<Job> job, DoorReply head, std::string notice);

  StreamStep Next(std::string& bytes, absl::Status& end) override;
  DoorReply Head() const override { return head_; }
  int64_t Length() const override { return length_; }
  absl::Status Late() override;
  bool whole_anywhere() const override { return false; }
  std::string video() const override { return id_; }

 private:
  const std::shared_ptr<Job> job_;
  const std::string id_, notice_;
  const DoorReply head_;
  std::atomic<bool> late_ = false;
  bool told_ = false;
  int64_t length_ = 0;
};

// The file of a video that is finished, or will be: its first byte comes after its last one was
// written. A failure is the reply.
class FinishedMedia final : public DoorBody {
 public:
  FinishedMedia(std::shared_ptr<Job> job, MediaAsk ask);

  StreamStep Next(std::string& bytes, absl::Status& end) override;
  // With what the render took.
  DoorReply Head() const override;
  int64_t Length() const override { return media_.Length(); }
  absl::Status Late() override { return media_.Late(); }
  bool whole_anywhere() const override { return false; }
  std::string video() const override { return media_.video(); }

 private:
  const std::shared_ptr<Job> job_;
  MediaBody media_;
};

}  // namespace reel::front
