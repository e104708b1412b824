// SPDX-License-Identifier: Apache-2.0
// Converts a run's results: statistics, the file, notices, stages.
#include <algorithm>
#include <array>
#include <cstddef>

#include "server/convert/convert.h"
#include "server/convert/field_convert.h"
#include "server/convert/proto_duration.h"

namespace reel {

v1::KernelStat KernelStatToProto(const kernels::VariantTime& time) {
  v1::KernelStat proto;
  proto.set_op(time.op);
  proto.set_variant(time.variant);
  proto.set_calls(time.calls);
  SetProtoDuration(*proto.mutable_total(), absl::Nanoseconds(time.total_ns));
  return proto;
}

kernels::VariantTime KernelStatFromProto(const v1::KernelStat& proto) {
  return {.op = proto.op(),
          .variant = proto.variant(),
          .calls = proto.calls(),
          .total_ns = absl::ToInt64Nanoseconds(FromProtoDuration(proto.total()))};
}

namespace {

using model::operator""_field;

static_assert(static_cast<int>(model::RunPart::kSound) == v1::RUN_PART_SOUND);
static_assert(static_cast<int>(model::RunPart::kSound) + 1 == model::kRunParts);

// In the order of model::Stage, which is that of a run.
constexpr std::array kStages = {
    v1::STAGE_UNSPECIFIED, v1::STAGE_QUEUE, v1::STAGE_TEXT_ENCODE, v1::STAGE_CONDITION_ENCODE,
    v1::STAGE_DENOISE,     v1::STAGE_SOUND, v1::STAGE_DECODE,      v1::STAGE_ENCODE};
static_assert(static_cast<size_t>(model::Stage::kEncode) + 1 == kStages.size());

v1::RunPart PartToProto(model::RunPart part) { return static_cast<v1::RunPart>(part); }
model::RunPart PartFromProto(v1::RunPart part) {
  return v1::RunPart_IsValid(part) ? static_cast<model::RunPart>(part)
                                   : model::RunPart::kUnspecified;
}

// The figures that are one value, for both directions.
template <typename Visitor, typename SoundStats>
void VisitSound(Visitor& visit, SoundStats& sound) {
  visit("loudness_lufs"_field, sound.loudness_lufs);
  visit("true_peak_dbtp"_field, sound.true_peak_dbtp);
  visit("silent_share"_field, sound.silent_share);
  visit("clipped_samples"_field, sound.clipped_samples);
}

template <typename Visitor, typename RunStats>
void VisitFigures(Visitor& visit, RunStats& stats) {
  visit("queued"_field, stats.queued);
  visit("text_encode"_field, stats.text_encode);
  visit("denoise"_field, stats.denoise);
  visit("decode"_field, stats.decode);
  visit("encode_exposed"_field, stats.encode_exposed);
  visit("total"_field, stats.total);
  visit("first_media_byte"_field, stats.first_media_byte);
  visit("device"_field, stats.device);
  visit("peak_memory_bytes"_field, stats.peak_memory_bytes);
  visit("mean_batch"_field, stats.mean_batch);
  visit("restarts"_field, stats.restarts);
  visit("device_seconds"_field, stats.device_seconds);
  visit("prompt_tokens"_field, stats.prompt_tokens);
  visit("negative_prompt_tokens"_field, stats.negative_prompt_tokens);
  visit("latent_tokens"_field, stats.latent_tokens);
  visit("audio_tokens"_field, stats.audio_tokens);
  visit("preemptions"_field, stats.preemptions);
  visit("timed_steps"_field, stats.timed_steps);
  visit("full_steps"_field, stats.full_steps);
  visit("reused_steps"_field, stats.reused_steps);
  visit("adapter_ranks"_field, stats.adapter_ranks);
  visit("adapter_upload"_field, stats.adapter_upload);
  visit("streamed_bytes"_field, stats.streamed_bytes);
  visit("stream_stall"_field, stats.stream_stall);
  visit("energy_joules"_field, stats.energy_joules);
}

void BillToProto(const model::RunStats& stats, v1::RunStats& proto) {
  for (const model::PartTime& part : stats.parts) {
    v1::PartTime& added = *proto.add_parts();
    added.set_part(PartToProto(part.part));
    SetProtoDuration(*added.mutable_time(), part.time);
  }
  for (const model::PartSpan& span : stats.spans) {
    v1::PartSpan& added = *proto.add_spans();
    added.set_part(PartToProto(span.part));
    SetProtoDuration(*added.mutable_start(), span.start);
    SetProtoDuration(*added.mutable_duration(), span.duration);
    added.set_step(span.step);
    added.set_jobs(span.jobs);
    added.set_timed(span.timed);
  }
  for (const model::OperatorCost& cost : stats.operators) {
    v1::OperatorCost& added = *proto.add_operators();
    added.set_part(PartToProto(cost.part));
    added.set_op(cost.op);
    added.set_variant(cost.variant);
    added.set_calls(cost.calls);
    SetProtoDuration(*added.mutable_timed(), cost.timed);
    SetProtoDuration(*added.mutable_estimate(), cost.estimate);
  }
}

void BillFromProto(const v1::RunStats& proto, model::RunStats& stats) {
  for (const v1::PartTime& part : proto.parts()) {
    stats.parts.push_back({PartFromProto(part.part()), FromProtoDuration(part.time())});
  }
  for (const v1::PartSpan& span : proto.spans()) {
    stats.spans.push_back({PartFromProto(span.part()), FromProtoDuration(span.start()),
                           FromProtoDuration(span.duration()), span.step(), span.jobs(),
                           span.timed()});
  }
  for (const v1::OperatorCost& cost : proto.operators()) {
    stats.operators.push_back({PartFromProto(cost.part()), cost.op(), cost.variant(), cost.calls(),
                               FromProtoDuration(cost.timed()),
                               FromProtoDuration(cost.estimate())});
  }
}

}  // namespace

v1::RunStats StatsToProto(const model::RunStats& stats) {
  v1::RunStats proto;
  MessageWriter write(proto);
  VisitFigures(write, stats);
  if (stats.sound_decode > absl::ZeroDuration()) {
    SetProtoDuration(*proto.mutable_sound_decode(), stats.sound_decode);
  }
  for (const kernels::VariantUse& use : stats.kernels) {
    v1::KernelUse& added = *proto.add_kernels();
    added.set_op(use.op);
    added.set_variant(use.variant);
    added.set_calls(use.calls);
    added.set_lossy(use.is_lossy);
  }
  for (const kernels::VariantTime& time : stats.kernel_stats) {
    *proto.add_kernel_stats() = KernelStatToProto(time);
  }
  if (stats.sound) {
    MessageWriter write_sound(*proto.mutable_sound());
    VisitSound(write_sound, *stats.sound);
  }
  BillToProto(stats, proto);
  return proto;
}

model::RunStats StatsFromProto(const v1::RunStats& proto) {
  model::RunStats stats;
  MessageReader read(proto);
  VisitFigures(read, stats);
  stats.sound_decode = FromProtoDuration(proto.sound_decode());
  for (const v1::KernelUse& use : proto.kernels()) {
    stats.kernels.push_back(
        {.op = use.op(), .variant = use.variant(), .calls = use.calls(), .is_lossy = use.lossy()});
  }
  for (const v1::KernelStat& stat : proto.kernel_stats()) {
    stats.kernel_stats.push_back(KernelStatFromProto(stat));
  }
  if (proto.has_sound()) {
    MessageReader read_sound(proto.sound());
    VisitSound(read_sound, stats.sound.emplace());
  }
  BillFromProto(proto, stats);
  return stats;
}

v1::MediaInfo MediaToProto(const model::MediaInfo& media) {
  v1::MediaInfo proto;
  proto.set_content_type(media.content_type);
  proto.set_size_bytes(media.size_bytes);
  proto.set_sha256(media.sha256);
  SetProtoDuration(*proto.mutable_duration(), media.duration);
  proto.set_has_sound(media.sample_rate > 0);
  proto.set_sample_rate(media.sample_rate);
  proto.set_width(media.width);
  proto.set_height(media.height);
  return proto;
}

model::MediaInfo MediaFromProto(const v1::MediaInfo& proto) {
  return {.content_type = proto.content_type(),
          .size_bytes = proto.size_bytes(),
          .sha256 = proto.sha256(),
          .duration = FromProtoDuration(proto.duration()),
          .sample_rate = proto.sample_rate(),
          .width = proto.width(),
          .height = proto.height()};
}

v1::Notice NoticeToProto(const model::Notice& notice) {
  v1::Notice proto;
  proto.set_code(notice.code);
  proto.set_message(notice.message);
  return proto;
}

model::Notice NoticeFromProto(const v1::Notice& proto) {
  return {.code = proto.code(), .message = proto.message()};
}

v1::Stage StageToProto(model::Stage stage) { return kStages.at(static_cast<size_t>(stage)); }

model::Stage StageFromProto(v1::Stage stage) {
  const auto* found = std::find(kStages.begin(), kStages.end(), stage);
  return found == kStages.end() ? model::Stage::kUnspecified
                                : static_cast<model::Stage>(found - kStages.begin());
}

}  // namespace reel
