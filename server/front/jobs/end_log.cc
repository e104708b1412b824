// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/end_log.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/run_clock.h"
#include "server/errors/error.h"
#include "server/logging/tenant_hash.h"

namespace reel::front {
namespace {

// As reel_requests_total has them.
std::string_view Outcome(const Video& video, std::optional<Reason> reason) {
  if (video.state == VideoState::kSucceeded) return "ok";
  if (reason == Reason::kDeadlinePassed) return "deadline";
  return video.state == VideoState::kCancelled ? "cancelled" : "failed";
}

// "grain x 0.5, turn x 1"; the names are the configuration's.
std::string AdaptersText(const model::GenerationSpec& spec) {
  return absl::StrJoin(spec.adapters, ", ",
                       [](std::string* text, const model::RequestAdapter& adapter) {
                         absl::StrAppend(text, adapter.name, " x ", adapter.scale.value_or(1));
                       });
}

}  // namespace

std::vector<Field> EndFields(const Video& video) {
  const std::optional<Reason> reason = ReasonOf(video.error);
  const model::GenerationSpec& spec = video.spec;
  std::vector<Field> fields = {
      {"video", video.id},
      {"request_id", video.request_id},
      {"trace_id", video.trace_id},
      {"tenant", TenantHash(video.tenant)},
      {"worker", video.worker},
      {"model", spec.model},
      {"shape", absl::StrCat(spec.width, "x", spec.height, "x", spec.num_frames)},
      {"steps", spec.num_steps()},
      {"outcome", Outcome(video, reason)},
      {"reason", reason ? Describe(*reason).name : std::string_view()},
      {"attempt", video.attempt},
  };
  if (!spec.adapters.empty()) fields.emplace_back("adapters", AdaptersText(spec));
  if (!video.stats) return fields;
  const model::RunStats& stats = *video.stats;
  fields.emplace_back("duration", stats.total);
  fields.emplace_back("device_seconds", stats.device_seconds);
  if (stats.energy_joules) fields.emplace_back("energy_joules", *stats.energy_joules);
  fields.emplace_back("mean_batch", stats.mean_batch);
  fields.emplace_back("preemptions", stats.preemptions);
  for (const model::PartTime& part : stats.parts) {
    fields.emplace_back(model::PartName(part.part), part.time);
  }
  return fields;
}

void LogEnd(const Video& video) { Log(LogLevel::kInfo, "A video ended", EndFields(video)); }

}  // namespace reel::front
