// SPDX-License-Identifier: Apache-2.0
// Converts a run's results: statistics, the file, notices, stages.
#include "server/convert/convert.h"
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

static_assert(static_cast<int>(model::RunPart::kSound) == v1::RUN_PART_SOUND);
static_assert(static_cast<int>(model::RunPart::kSound) + 1 == model::kRunParts);

v1::RunPart PartToProto(model::RunPart part) { return static_cast<v1::RunPart>(part); }
model::RunPart PartFromProto(v1::RunPart part) {
  return v1::RunPart_IsValid(part) ? static_cast<model::RunPart>(part)
                                   : model::RunPart::kUnspecified;
}

v1::SoundStats SoundToProto(const model::SoundStats& sound) {
  v1::SoundStats proto;
  if (sound.loudness_lufs) proto.set_loudness_lufs(*sound.loudness_lufs);
  if (sound.true_peak_dbtp) proto.set_true_peak_dbtp(*sound.true_peak_dbtp);
  proto.set_silent_share(sound.silent_share);
  proto.set_clipped_samples(sound.clipped_samples);
  return proto;
}

model::SoundStats SoundFromProto(const v1::SoundStats& proto) {
  model::SoundStats sound;
  if (proto.has_loudness_lufs()) sound.loudness_lufs = proto.loudness_lufs();
  if (proto.has_true_peak_dbtp()) sound.true_peak_dbtp = proto.true_peak_dbtp();
  sound.silent_share = proto.silent_share();
  sound.clipped_samples = proto.clipped_samples();
  return sound;
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
  SetProtoDuration(*proto.mutable_queued(), stats.queued);
  SetProtoDuration(*proto.mutable_text_encode(), stats.text_encode);
  SetProtoDuration(*proto.mutable_denoise(), stats.denoise);
  if (stats.sound_decode > absl::ZeroDuration()) {
    SetProtoDuration(*proto.mutable_sound_decode(), stats.sound_decode);
  }
  SetProtoDuration(*proto.mutable_decode(), stats.decode);
  SetProtoDuration(*proto.mutable_encode_exposed(), stats.encode_exposed);
  SetProtoDuration(*proto.mutable_total(), stats.total);
  SetProtoDuration(*proto.mutable_first_media_byte(), stats.first_media_byte);
  proto.set_device(stats.device);
  proto.set_peak_memory_bytes(stats.peak_memory_bytes);
  proto.set_mean_batch(stats.mean_batch);
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
  proto.set_restarts(stats.restarts);
  proto.set_device_seconds(stats.device_seconds);
  proto.set_prompt_tokens(stats.prompt_tokens);
  proto.set_negative_prompt_tokens(stats.negative_prompt_tokens);
  proto.set_latent_tokens(stats.latent_tokens);
  proto.set_audio_tokens(stats.audio_tokens);
  proto.set_preemptions(stats.preemptions);
  proto.set_timed_steps(stats.timed_steps);
  proto.set_full_steps(stats.full_steps);
  proto.set_reused_steps(stats.reused_steps);
  if (stats.energy_joules) proto.set_energy_joules(*stats.energy_joules);
  if (stats.sound) *proto.mutable_sound() = SoundToProto(*stats.sound);
  BillToProto(stats, proto);
  return proto;
}

model::RunStats StatsFromProto(const v1::RunStats& proto) {
  model::RunStats stats;
  stats.queued = FromProtoDuration(proto.queued());
  stats.text_encode = FromProtoDuration(proto.text_encode());
  stats.denoise = FromProtoDuration(proto.denoise());
  stats.sound_decode = FromProtoDuration(proto.sound_decode());
  stats.decode = FromProtoDuration(proto.decode());
  stats.encode_exposed = FromProtoDuration(proto.encode_exposed());
  stats.total = FromProtoDuration(proto.total());
  stats.first_media_byte = FromProtoDuration(proto.first_media_byte());
  stats.device = proto.device();
  stats.peak_memory_bytes = proto.peak_memory_bytes();
  stats.mean_batch = proto.mean_batch();
  for (const v1::KernelUse& use : proto.kernels()) {
    stats.kernels.push_back(
        {.op = use.op(), .variant = use.variant(), .calls = use.calls(), .is_lossy = use.lossy()});
  }
  for (const v1::KernelStat& stat : proto.kernel_stats()) {
    stats.kernel_stats.push_back(KernelStatFromProto(stat));
  }
  stats.restarts = proto.restarts();
  stats.device_seconds = proto.device_seconds();
  stats.prompt_tokens = proto.prompt_tokens();
  stats.negative_prompt_tokens = proto.negative_prompt_tokens();
  stats.latent_tokens = proto.latent_tokens();
  stats.audio_tokens = proto.audio_tokens();
  stats.preemptions = proto.preemptions();
  stats.timed_steps = proto.timed_steps();
  stats.full_steps = proto.full_steps();
  stats.reused_steps = proto.reused_steps();
  if (proto.has_energy_joules()) stats.energy_joules = proto.energy_joules();
  if (proto.has_sound()) stats.sound = SoundFromProto(proto.sound());
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

v1::Stage StageToProto(model::Stage stage) {
  switch (stage) {
    case model::Stage::kUnspecified:
      return v1::STAGE_UNSPECIFIED;
    case model::Stage::kQueue:
      return v1::STAGE_QUEUE;
    case model::Stage::kTextEncode:
      return v1::STAGE_TEXT_ENCODE;
    case model::Stage::kConditionEncode:
      return v1::STAGE_CONDITION_ENCODE;
    case model::Stage::kDenoise:
      return v1::STAGE_DENOISE;
    case model::Stage::kSound:
      return v1::STAGE_SOUND;
    case model::Stage::kDecode:
      return v1::STAGE_DECODE;
    case model::Stage::kEncode:
      return v1::STAGE_ENCODE;
  }
  return v1::STAGE_UNSPECIFIED;
}

model::Stage StageFromProto(v1::Stage stage) {
  switch (stage) {
    case v1::STAGE_QUEUE:
      return model::Stage::kQueue;
    case v1::STAGE_TEXT_ENCODE:
      return model::Stage::kTextEncode;
    case v1::STAGE_CONDITION_ENCODE:
      return model::Stage::kConditionEncode;
    case v1::STAGE_DENOISE:
      return model::Stage::kDenoise;
    case v1::STAGE_SOUND:
      return model::Stage::kSound;
    case v1::STAGE_DECODE:
      return model::Stage::kDecode;
    case v1::STAGE_ENCODE:
      return model::Stage::kEncode;
    default:
      return model::Stage::kUnspecified;
  }
}

}  // namespace reel
