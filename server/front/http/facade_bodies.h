// SPDX-License-Identifier: Apache-2.0
// Replies of the facade: videos and models as the OpenAI videos API shows them, pages of them, and
// those that wait for a video.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "server/front/http/media_body.h"
#include "server/front/jobs/job_service.h"

namespace reel::front {

// The videos of a call as JSON, once all are final, or when they were waited for long enough.
class VideosOnceFinal final : public DoorBody {
 public:
  VideosOnceFinal(Jobs jobs, DoorReply head, std::string notice);

  StreamStep Next(std::string& bytes, absl::Status& end) override;
  DoorReply Head() const override { return head_; }
  int64_t Length() const override { return length_; }
  absl::Status Late() override;
  bool whole_anywhere() const override { return false; }
  std::string video() const override { return id_; }

 private:
  const Jobs jobs_;
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

// The object `video`. `notice`: one more, where it is not empty.
std::string FacadeVideoJson(const Video& video, const std::string& notice = "");
// Of a call for several: the first one, with all of them as its `videos`.
std::string FacadeVideosJson(const std::vector<Video>& videos, const std::string& notice);
// `videos` in their order.
std::string FacadeListJson(const std::vector<Video>& videos, bool more);
std::string FacadeDeletedJson(const std::string& id);
std::string FacadeModelJson(const ServedModel& model, int64_t created);
std::string FacadeModelsJson(const std::vector<ServedModel>& models, int64_t created);

// The model that is served unless one is named.
std::string FacadeModelInfoJson(const std::string& model);
std::string FacadeHealthJson(bool ready);

// Server-Timing of a finished video, in ms.
std::string ServerTimingOf(const model::RunStats& stats);
// Seconds, without the time in the queue.
double InferenceSecondsOf(const model::RunStats& stats);

}  // namespace reel::front
