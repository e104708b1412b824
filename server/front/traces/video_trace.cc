// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/video_trace.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "model/run_clock.h"
#include "server/errors/error.h"
#include "server/logging/tenant_hash.h"

namespace reel::front {
namespace {

using model::PartSpan;
using model::RunPart;

// More stretches than these of one part become one span: a video that shares its device with
// others may be handed to and fro a hundred times.
constexpr size_t kMostStretches = 4;

// The same for the same video and name: a collector that gets a trace twice has it once.
std::string SpanId(const Video& video, std::string_view name) {
  const Sha256Digest digest = Sha256Of(absl::StrCat(video.id, "/", std::string(name)));
  std::string id =
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest.data()), 8));
  return id == "0000000000000000" ? "0000000000000001" : id;
}

std::string_view SpanName(RunPart part) {
  return part == RunPart::kFile ? "deliver" : model::PartName(part);
}

// One span each, however often it was put off: what operators took is known of the whole of it.
bool IsWork(RunPart part) {
  return part == RunPart::kText || part == RunPart::kDenoise || part == RunPart::kSound ||
         part == RunPart::kDecode;
}

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

class TraceBuilder {
 public:
  explicit TraceBuilder(const Video& video) : video_(video) {}

  Trace Build(bool detached) {
    AddWhole(detached);
    if (video_.stats) {
      for (const model::PartTime& part : video_.stats->parts) AddPart(part);
    }
    return std::move(trace_);
  }

 private:
  void AddWhole(bool detached);
  void AddPart(const model::PartTime& part);
  Span& AddSpan(std::string_view name, absl::Duration start, absl::Duration end, double seconds);
  void AddSteps(const std::vector<PartSpan>& steps, Span& span) const;
  void AddOperators(RunPart part, Span& span) const;

  const Video& video_;
  Trace trace_;
};

void TraceBuilder::AddWhole(bool detached) {
  const model::GenerationSpec& spec = video_.spec;
  Span whole;
  whole.trace_id = video_.trace_id;
  whole.id = SpanId(video_, "");
  whole.parent = video_.caller_span.id;
  whole.name = "request";
  whole.at_the_door = true;
  whole.start = video_.create_time;
  whole.end = video_.stats ? video_.create_time + video_.stats->total : video_.end_time;
  whole.attributes = {
      {"rpc.system", std::string("grpc")},
      {"rpc.service", std::string("reel.v1.VideoService")},
      {"rpc.method", std::string(detached ? "CreateVideo" : "GenerateVideo")},
      {"reel.video", "videos/" + video_.id},
      {"reel.request_id", video_.request_id},
      {"reel.tenant", TenantHash(video_.tenant)},
      {"reel.worker", video_.worker},
      {"reel.model", spec.model},
      {"reel.shape", absl::StrCat(spec.width, "x", spec.height, "x", spec.num_frames)},
      {"reel.steps", int64_t{spec.num_steps()}},
      {"reel.attempt", int64_t{video_.attempt}},
  };
  if (!spec.kernels.experiment.empty()) {
    whole.attributes.push_back({"reel.experiment", spec.kernels.experiment});
    whole.attributes.push_back({"reel.arm", spec.kernels.arm});
  }
  const std::optional<Reason> reason = ReasonOf(video_.error);
  if (video_.state != VideoState::kSucceeded) {
    whole.error = reason ? std::string(Describe(*reason).name) : "UNKNOWN";
  }
  if (video_.stats) {
    const model::RunStats& stats = *video_.stats;
    whole.attributes.push_back({"reel.device_seconds", stats.device_seconds});
    if (stats.energy_joules) {
      whole.attributes.push_back({"reel.energy_joules", *stats.energy_joules});
    }
    whole.attributes.push_back({"reel.mean_batch", stats.mean_batch});
    whole.attributes.push_back({"reel.preemptions", int64_t{stats.preemptions}});
  }
  trace_.push_back(std::move(whole));
}

Span& TraceBuilder::AddSpan(std::string_view name, absl::Duration start, absl::Duration end,
                            double seconds) {
  const Span& whole = trace_.front();
  Span span;
  span.trace_id = whole.trace_id;
  // There are several of some parts.
  span.id = SpanId(video_, absl::StrCat(std::string(name), trace_.size()));
  span.parent = whole.id;
  span.name = std::string(name);
  span.start = whole.start + start;
  span.end = whole.start + end;
  span.attributes.push_back({"reel.seconds", seconds});
  return trace_.emplace_back(std::move(span));
}

void TraceBuilder::AddPart(const model::PartTime& part) {
  const std::string_view name = SpanName(part.part);
  std::vector<PartSpan> stretches;
  absl::Duration placed, end;
  for (const PartSpan& span : video_.stats->spans) {
    if (span.part != part.part) continue;
    stretches.push_back(span);
    placed += span.duration;
    end = std::max(end, span.start + span.duration);
  }
  if (stretches.empty()) {
    trace_.front().attributes.push_back(
        {absl::StrCat("reel.", std::string(name), "_seconds"), Seconds(part.time)});
  } else if (IsWork(part.part) || stretches.size() > kMostStretches) {
    Span& span = AddSpan(name, stretches.front().start, end, Seconds(part.time));
    AddSteps(stretches, span);
    AddOperators(part.part, span);
  } else {
    for (const PartSpan& stretch : stretches) {
      AddSpan(name, stretch.start, stretch.start + stretch.duration, Seconds(stretch.duration));
    }
    // What of the part has no place in time belongs to its last stretch.
    Span& last = trace_.back();
    last.attributes.front().value = Seconds(stretches.back().duration + part.time - placed);
  }
}

void TraceBuilder::AddSteps(const std::vector<PartSpan>& steps, Span& span) const {
  for (const PartSpan& step : steps) {
    if (step.step == 0) continue;
    span.events.push_back({"step",
                           trace_.front().start + step.start,
                           {{"reel.step", int64_t{step.step}},
                            {"reel.seconds", Seconds(step.duration)},
                            {"reel.videos", int64_t{step.jobs}},
                            {"reel.timed", step.timed}}});
  }
  if (!span.events.empty()) {
    span.attributes.push_back({"reel.timed_steps", int64_t{video_.stats->timed_steps}});
  }
}

// Estimates of the whole part, from what was timed of it.
void TraceBuilder::AddOperators(RunPart part, Span& span) const {
  for (const model::OperatorCost& cost : video_.stats->operators) {
    if (cost.part != part) continue;
    const std::string variant = cost.variant.empty() ? "" : absl::StrCat(".", cost.variant);
    span.attributes.push_back(
        {absl::StrCat("reel.operator.", cost.op, variant, ".seconds"), Seconds(cost.estimate)});
  }
}

}  // namespace

Trace TraceOf(const Video& video, bool detached) { return TraceBuilder(video).Build(detached); }

bool IsTraced(const Video& video, double share) {
  if (video.trace_id.size() != 32) return false;
  if (video.caller_span.sampled) return *video.caller_span.sampled;
  if (share >= 1) return true;
  // W3C's random part of a trace id: its last 14 digits, 56 bits.
  const uint64_t random = std::strtoull(video.trace_id.c_str() + 18, nullptr, 16);
  return static_cast<double>(random) < share * static_cast<double>(uint64_t{1} << 56);
}

}  // namespace reel::front
