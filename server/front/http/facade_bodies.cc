// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_bodies.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/errors/error.h"
#include "server/front/api/shown_error.h"
#include "server/front/http/door_json.h"
#include "server/front/http/facade_conditions.h"

namespace reel::front {

VideosOnceFinal::VideosOnceFinal(Jobs jobs, DoorReply head, std::string notice)
    : jobs_(std::move(jobs)),
      id_(jobs_.front()->Snapshot().id),
      notice_(std::move(notice)),
      head_(std::move(head)) {}

absl::Status VideosOnceFinal::Late() {
  late_ = true;
  return absl::OkStatus();
}

StreamStep VideosOnceFinal::Next(std::string& bytes, absl::Status& end) {
  if (told_) {
    end = absl::OkStatus();
    return StreamStep::kEnd;
  }
  const bool final = std::all_of(jobs_.begin(), jobs_.end(),
                                 [](const auto& job) { return IsFinal(job->state()); });
  if (!late_ && !final) return StreamStep::kWait;
  told_ = true;
  bytes = FacadeVideosJson(SnapshotsOf(jobs_), notice_);
  length_ = static_cast<int64_t>(bytes.size());
  return StreamStep::kMessage;
}

FinishedMedia::FinishedMedia(std::shared_ptr<Job> job, MediaAsk ask)
    : job_(job), media_(std::move(job), std::move(ask)) {}

StreamStep FinishedMedia::Next(std::string& bytes, absl::Status& end) {
  const VideoState state = job_->state();
  if (!IsFinal(state)) return StreamStep::kWait;
  if (state == VideoState::kSucceeded) return media_.Next(bytes, end);
  const Video video = job_->Snapshot();
  end = AsSent(WithVideo(video.error, video.id), FieldsOf(video.spec));
  return StreamStep::kEnd;
}

DoorReply FinishedMedia::Head() const {
  DoorReply head = media_.Head();
  const Video video = job_->Snapshot();
  head.Add("X-Model", video.spec.model);
  if (!video.stats) return head;
  head.Add("Server-Timing", ServerTimingOf(*video.stats));
  head.Add("X-Inference-Time-S", absl::StrFormat("%.3f", InferenceSecondsOf(*video.stats)));
  return head;
}

namespace {

using Json = nlohmann::json;

const char* StatusOf(VideoState state) {
  switch (state) {
    case VideoState::kQueued:
      return "queued";
    case VideoState::kRunning:
      return "in_progress";
    case VideoState::kSucceeded:
      return "completed";
    case VideoState::kFailed:
    case VideoState::kCancelled:
      return "failed";
  }
  return "failed";
}

Json TimeOf(absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) return nullptr;
  return absl::ToUnixSeconds(time);
}

Json ErrorOf(const Video& video) {
  if (video.error.ok()) return nullptr;
  const absl::Status shown = AsSent(ShownToClients(video.error), FieldsOf(video.spec));
  const Reason reason = ReasonOf(shown).value_or(Reason::kInternal);
  return {{"code", std::string(Describe(reason).name)}, {"message", std::string(shown.message())}};
}

Json NoticesOf(const Video& video, const std::string& more) {
  Json notices = Json::array();
  if (!more.empty()) notices.push_back({{"code", "SECONDS_AS_FRAMES"}, {"message", more}});
  for (const model::Notice& notice : video.notices) {
    notices.push_back({{"code", notice.code}, {"message", notice.message}});
  }
  return notices;
}

// The video that it goes on from; a promotion is its draft's own rest.
Json RemixedFrom(const model::GenerationSpec& spec) {
  constexpr size_t kPrefix = std::string_view("videos/").size();
  if (!spec.source || spec.is_promotion()) return nullptr;
  return spec.source->video.substr(std::min(kPrefix, spec.source->video.size()));
}

double Seconds(absl::Duration time) { return absl::ToDoubleSeconds(time); }

void AddStats(const model::RunStats& stats, Json& json) {
  json["inference_time_s"] = InferenceSecondsOf(stats);
  json["peak_memory_mb"] =
      static_cast<double>(std::max<int64_t>(0, stats.peak_memory_bytes)) / (1 << 20);
  json["stage_durations"] = {{"text_encode", Seconds(stats.text_encode)},
                             {"denoise", Seconds(stats.denoise)},
                             {"decode", Seconds(stats.decode)},
                             {"encode", Seconds(stats.encode_exposed)}};
  Json kernels = Json::array();
  for (const kernels::VariantUse& use : stats.kernels) {
    kernels.push_back({{"op", use.op}, {"variant", use.variant}, {"calls", use.calls}});
  }
  json["kernels"] = std::move(kernels);
}

Json JsonOf(const Video& video, const std::string& notice) {
  const model::GenerationSpec& spec = video.spec;
  const int frames = spec.file_frames();
  const double duration = spec.frame_rate > 0 ? frames / spec.frame_rate : 0;
  const bool done = video.state == VideoState::kSucceeded;
  const int progress = static_cast<int>(100 * video.progress.fraction);
  const auto seconds = static_cast<int64_t>(std::max(1.0, std::round(duration)));
  Json json = {
      {"id", video.id},
      {"object", "video"},
      {"model", spec.model},
      {"status", StatusOf(video.state)},
      {"progress", done ? 100 : std::clamp(progress, 0, 99)},
      {"created_at", TimeOf(video.create_time)},
      {"completed_at", done ? TimeOf(video.end_time) : Json()},
      {"expires_at", TimeOf(video.expire_time)},
      {"prompt", spec.prompt},
      {"size", absl::StrCat(spec.width, "x", spec.height)},
      {"seconds", absl::StrCat(seconds)},
      {"remixed_from_video_id", RemixedFrom(spec)},
      {"error", ErrorOf(video)},
      {"seed", spec.seed.value_or(0)},
      {"fps", spec.frame_rate},
      {"num_frames", frames},
      {"num_inference_steps", spec.num_steps()},
      {"guidance_scale", spec.guidance_scale.value_or(1)},
      {"duration_s", duration},
      {"num_outputs", 1},
      {"quality", "standard"},
      {"media_type", video.media.content_type},
      {"queue_position", video.progress.queue_position},
      {"notices", NoticesOf(video, notice)},
  };
  if (IsFinal(video.state) && video.stats) AddStats(*video.stats, json);
  return json;
}

Json JsonOfModel(const ServedModel& model, int64_t created) {
  return {{"id", model.card.name}, {"object", "model"}, {"created", created}, {"owned_by", "reel"}};
}

}  // namespace

double InferenceSecondsOf(const model::RunStats& stats) {
  return std::max(0.0, Seconds(stats.total - stats.queued));
}

std::string FacadeVideoJson(const Video& video, const std::string& notice) {
  return DumpJson(JsonOf(video, notice));
}

std::string FacadeVideosJson(const std::vector<Video>& videos, const std::string& notice) {
  Json json = JsonOf(videos.front(), notice);
  if (videos.size() == 1) return DumpJson(json);
  json["num_outputs"] = videos.size();
  Json all = Json::array();
  for (const Video& video : videos) all.push_back(JsonOf(video, notice));
  json["videos"] = std::move(all);
  return DumpJson(json);
}

std::string FacadeListJson(const std::vector<Video>& videos, bool more) {
  Json data = Json::array();
  for (const Video& video : videos) data.push_back(JsonOf(video, ""));
  const auto id = [&](const Video& video) { return Json(video.id); };
  return DumpJson({{"object", "list"},
                   {"first_id", videos.empty() ? Json() : id(videos.front())},
                   {"last_id", videos.empty() ? Json() : id(videos.back())},
                   {"has_more", more},
                   {"data", std::move(data)}});
}

std::string FacadeDeletedJson(const std::string& id) {
  return DumpJson({{"id", id}, {"object", "video.deleted"}, {"deleted", true}});
}

std::string FacadeModelJson(const ServedModel& model, int64_t created) {
  return DumpJson(JsonOfModel(model, created));
}

std::string FacadeModelsJson(const std::vector<ServedModel>& models, int64_t created) {
  Json data = Json::array();
  for (const ServedModel& model : models) data.push_back(JsonOfModel(model, created));
  return DumpJson({{"object", "list"}, {"data", std::move(data)}});
}

std::string FacadeModelInfoJson(const std::string& model) {
  return DumpJson({{"model_path", model}, {"is_generation", true}});
}

std::string FacadeHealthJson(bool ready) {
  return DumpJson({{"status", ready ? "ok" : "not ready"}});
}

std::string ServerTimingOf(const model::RunStats& stats) {
  const auto ms = [](absl::Duration time) { return absl::ToDoubleMilliseconds(time); };
  const double generation = 1000 * InferenceSecondsOf(stats);
  return absl::StrFormat(
      "generation;dur=%.1f, server_gen;dur=%.1f, pre_denoise;dur=%.1f, denoise;dur=%.1f, "
      "post_denoise;dur=%.1f",
      generation, generation, ms(stats.text_encode), ms(stats.denoise),
      ms(stats.decode + stats.encode_exposed));
}

}  // namespace reel::front
