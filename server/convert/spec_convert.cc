// SPDX-License-Identifier: Apache-2.0
// Converts VideoSpec to GenerationSpec and back. A reflection-driven test fails for a field that is
// missing here.
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/base/digest/sha256.h"
#include "model/own_sound.h"
#include "server/convert/convert.h"

namespace reel {
namespace {

// The type of the bytes by their first ones; empty if unknown. The worker's decoder has the last
// word.
std::string_view SniffContentType(std::string_view bytes) {
  const auto at = [&](size_t offset, std::string_view magic) {
    return bytes.size() >= offset + magic.size() && bytes.substr(offset, magic.size()) == magic;
  };
  if (at(0, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (at(0, "\xff\xd8\xff")) return "image/jpeg";
  if (at(0, "RIFF") && at(8, "WEBP")) return "image/webp";
  if (at(4, "ftyp")) return "video/mp4";
  return {};
}

using Kind = model::Condition::Kind;

Kind KindOf(const v1::Condition& proto) {
  if (proto.has_audio()) return Kind::kAudio;
  return proto.has_video() ? Kind::kVideo : Kind::kImage;
}

const std::string& BytesOf(const v1::Condition& proto) {
  if (proto.has_audio()) return proto.audio();
  return proto.has_video() ? proto.video() : proto.image();
}

model::Condition ConditionFromProto(const v1::Condition& proto) {
  model::Condition condition;
  condition.kind = KindOf(proto);
  condition.frame_index = proto.frame_index();
  if (proto.has_strength()) condition.strength = proto.strength();
  const std::string& bytes = BytesOf(proto);
  if (bytes.empty()) {
    condition.content_type = proto.content_type();
    condition.size_bytes = proto.size_bytes();
    condition.sha256 = proto.sha256();
    return condition;
  }
  // If the bytes are there, their description is computed: a caller's could be wrong.
  condition.bytes = std::make_shared<const std::string>(bytes);
  condition.content_type =
      condition.is_sound() ? model::SoundTypeOf(bytes) : SniffContentType(bytes);
  condition.size_bytes = static_cast<int64_t>(bytes.size());
  condition.sha256 = Sha256Hex(bytes);
  return condition;
}

void SetCondition(const model::Condition& condition, bool with_bytes, v1::Condition& proto) {
  // Without bytes the empty member stays set: it tells a picture from a clip or a sound.
  std::string bytes = with_bytes && condition.bytes ? *condition.bytes : std::string();
  switch (condition.kind) {
    case Kind::kImage:
      proto.set_image(std::move(bytes));
      break;
    case Kind::kVideo:
      proto.set_video(std::move(bytes));
      break;
    case Kind::kAudio:
      proto.set_audio(std::move(bytes));
      break;
  }
  proto.set_frame_index(condition.frame_index);
  if (condition.strength) proto.set_strength(*condition.strength);
  proto.set_content_type(condition.content_type);
  proto.set_size_bytes(condition.size_bytes);
  proto.set_sha256(condition.sha256);
}

// A path is never part of the API.
void SetAdapters(const model::GenerationSpec& spec, v1::VideoSpec& proto) {
  for (const model::RequestAdapter& adapter : spec.adapters) {
    v1::Adapter& added = *proto.add_adapters();
    added.set_name(adapter.name);
    if (adapter.scale) added.set_scale(*adapter.scale);
    added.set_sha256(adapter.sha256);
  }
}

void TakeAdapters(const v1::VideoSpec& proto, model::GenerationSpec& spec) {
  for (const v1::Adapter& adapter : proto.adapters()) {
    spec.adapters.push_back({adapter.name(),
                             adapter.has_scale() ? std::optional(adapter.scale()) : std::nullopt,
                             adapter.sha256()});
  }
}

constexpr double kNanosOfASecond = 1e9;

double SecondsOf(const google::protobuf::Duration& proto) {
  return static_cast<double>(proto.seconds()) + proto.nanos() / kNanosOfASecond;
}

void SetSeconds(double seconds, google::protobuf::Duration& proto) {
  const double whole = std::floor(seconds);
  const int64_t nanos = std::llround((seconds - whole) * kNanosOfASecond);
  const bool is_next = nanos >= static_cast<int64_t>(kNanosOfASecond);
  proto.set_seconds(static_cast<int64_t>(whole) + (is_next ? 1 : 0));
  proto.set_nanos(is_next ? 0 : static_cast<int32_t>(nanos));
}

model::Source::Begin BeginOf(const v1::Source& proto) {
  using Begin = model::Source::Begin;
  switch (proto.begin_case()) {
    case v1::Source::kPromote:
      return Begin::kPromote;
    case v1::Source::kExtend:
      return Begin::kExtend;
    case v1::Source::kRetake:
      return Begin::kRetake;
    case v1::Source::BEGIN_NOT_SET:
      break;
  }
  return Begin::kUnspecified;
}

model::Source SourceFromProto(const v1::Source& proto) {
  const v1::Extend& extend = proto.extend();
  const v1::Retake& retake = proto.retake();
  return {.video = proto.video(),
          .begin = BeginOf(proto),
          .state_sha256 = proto.state_sha256(),
          .state = nullptr,
          .extend = {.num_frames = extend.num_frames(),
                     .overlap_frames = extend.overlap_frames(),
                     .join = extend.join(),
                     .source_frames = extend.source_frames()},
          .retake = {.begin = SecondsOf(retake.begin()),
                     .end = SecondsOf(retake.end()),
                     .keep_pictures = retake.keep_pictures(),
                     .keep_sound = retake.keep_sound()}};
}

void SetExtend(const model::Source::Extend& extend, v1::Extend& proto) {
  proto.set_num_frames(extend.num_frames);
  proto.set_overlap_frames(extend.overlap_frames);
  proto.set_join(extend.join);
  proto.set_source_frames(extend.source_frames);
}

void SetRetake(const model::Source::Retake& retake, v1::Retake& proto) {
  SetSeconds(retake.begin, *proto.mutable_begin());
  SetSeconds(retake.end, *proto.mutable_end());
  proto.set_keep_pictures(retake.keep_pictures);
  proto.set_keep_sound(retake.keep_sound);
}

void SetSource(const model::Source& source, v1::Source& proto) {
  proto.set_video(source.video);
  switch (source.begin) {
    case model::Source::Begin::kUnspecified:
      break;
    case model::Source::Begin::kPromote:
      proto.mutable_promote();
      break;
    case model::Source::Begin::kExtend:
      SetExtend(source.extend, *proto.mutable_extend());
      break;
    case model::Source::Begin::kRetake:
      SetRetake(source.retake, *proto.mutable_retake());
      break;
  }
  proto.set_state_sha256(source.state_sha256);
}

model::VideoCodec CodecFromProto(v1::VideoCodec codec) {
  return codec == v1::VIDEO_CODEC_H264 ? model::VideoCodec::kH264 : model::VideoCodec::kUnspecified;
}

v1::VideoCodec CodecToProto(model::VideoCodec codec) {
  switch (codec) {
    case model::VideoCodec::kUnspecified:
      return v1::VIDEO_CODEC_UNSPECIFIED;
    case model::VideoCodec::kH264:
      return v1::VIDEO_CODEC_H264;
  }
  return v1::VIDEO_CODEC_UNSPECIFIED;
}

model::EncodingSpeed SpeedFromProto(v1::EncodingSpeed speed) {
  switch (speed) {
    case v1::ENCODING_SPEED_ULTRAFAST:
      return model::EncodingSpeed::kUltrafast;
    case v1::ENCODING_SPEED_SUPERFAST:
      return model::EncodingSpeed::kSuperfast;
    case v1::ENCODING_SPEED_VERYFAST:
      return model::EncodingSpeed::kVeryfast;
    case v1::ENCODING_SPEED_FASTER:
      return model::EncodingSpeed::kFaster;
    case v1::ENCODING_SPEED_MEDIUM:
      return model::EncodingSpeed::kMedium;
    default:
      return model::EncodingSpeed::kUnspecified;
  }
}

v1::EncodingSpeed SpeedToProto(model::EncodingSpeed speed) {
  switch (speed) {
    case model::EncodingSpeed::kUnspecified:
      return v1::ENCODING_SPEED_UNSPECIFIED;
    case model::EncodingSpeed::kUltrafast:
      return v1::ENCODING_SPEED_ULTRAFAST;
    case model::EncodingSpeed::kSuperfast:
      return v1::ENCODING_SPEED_SUPERFAST;
    case model::EncodingSpeed::kVeryfast:
      return v1::ENCODING_SPEED_VERYFAST;
    case model::EncodingSpeed::kFaster:
      return v1::ENCODING_SPEED_FASTER;
    case model::EncodingSpeed::kMedium:
      return v1::ENCODING_SPEED_MEDIUM;
  }
  return v1::ENCODING_SPEED_UNSPECIFIED;
}

model::Origin OriginFromProto(v1::Origin origin) {
  switch (origin) {
    case v1::ORIGIN_NONE:
      return model::Origin::kNone;
    case v1::ORIGIN_MARK:
      return model::Origin::kMark;
    case v1::ORIGIN_SPEC:
      return model::Origin::kSpec;
    default:
      return model::Origin::kUnspecified;
  }
}

v1::Origin OriginToProto(model::Origin origin) {
  switch (origin) {
    case model::Origin::kUnspecified:
      return v1::ORIGIN_UNSPECIFIED;
    case model::Origin::kNone:
      return v1::ORIGIN_NONE;
    case model::Origin::kMark:
      return v1::ORIGIN_MARK;
    case model::Origin::kSpec:
      return v1::ORIGIN_SPEC;
  }
  return v1::ORIGIN_UNSPECIFIED;
}

// Messages inside the spec. Absent and empty mean the same, so an empty one is left out.
void SetChoices(const model::GenerationSpec& spec, v1::VideoSpec& proto) {
  if (spec.kernels != model::KernelSelection()) {
    v1::KernelSelection& kernels = *proto.mutable_kernels();
    kernels.set_profile(spec.kernels.profile);
    kernels.mutable_variants()->insert(spec.kernels.variants.begin(), spec.kernels.variants.end());
    kernels.set_experiment(spec.kernels.experiment);
    kernels.set_arm(spec.kernels.arm);
  }
  if (spec.cache.threshold) proto.mutable_cache()->set_threshold(*spec.cache.threshold);
  if (spec.cache.most_reused) proto.mutable_cache()->set_most_reused(*spec.cache.most_reused);
  if (spec.preview != model::PreviewOptions()) {
    proto.mutable_preview()->set_every_steps(spec.preview.every_steps);
    proto.mutable_preview()->set_max_side(spec.preview.max_side);
  }
  if (spec.encoding != model::EncodingOptions()) {
    v1::EncodingOptions& encoding = *proto.mutable_encoding();
    encoding.set_codec(CodecToProto(spec.encoding.codec));
    if (spec.encoding.crf) encoding.set_crf(*spec.encoding.crf);
    encoding.set_speed(SpeedToProto(spec.encoding.speed));
    encoding.set_origin(OriginToProto(spec.encoding.origin));
  }
}

void TakeChoices(const v1::VideoSpec& proto, model::GenerationSpec& spec) {
  spec.kernels.profile = proto.kernels().profile();
  spec.kernels.variants.insert(proto.kernels().variants().begin(),
                               proto.kernels().variants().end());
  spec.kernels.experiment = proto.kernels().experiment();
  spec.kernels.arm = proto.kernels().arm();
  if (proto.cache().has_threshold()) spec.cache.threshold = proto.cache().threshold();
  if (proto.cache().has_most_reused()) spec.cache.most_reused = proto.cache().most_reused();
  spec.preview.every_steps = proto.preview().every_steps();
  spec.preview.max_side = proto.preview().max_side();
  spec.encoding.codec = CodecFromProto(proto.encoding().codec());
  if (proto.encoding().has_crf()) spec.encoding.crf = proto.encoding().crf();
  spec.encoding.speed = SpeedFromProto(proto.encoding().speed());
  spec.encoding.origin = OriginFromProto(proto.encoding().origin());
}

void TakeFurtherGuidance(const v1::VideoSpec& proto, model::GenerationSpec& spec) {
  if (proto.has_audio_guidance_scale()) spec.audio_guidance_scale = proto.audio_guidance_scale();
  if (proto.has_audio_guidance_rescale())
    spec.audio_guidance_rescale = proto.audio_guidance_rescale();
  if (proto.has_stg_scale()) spec.stg_scale = proto.stg_scale();
  if (proto.has_audio_stg_scale()) spec.audio_stg_scale = proto.audio_stg_scale();
  if (proto.has_modality_scale()) spec.modality_scale = proto.modality_scale();
  if (proto.has_audio_modality_scale()) spec.audio_modality_scale = proto.audio_modality_scale();
  spec.stg_blocks.assign(proto.stg_blocks().begin(), proto.stg_blocks().end());
}

void SetFurtherGuidance(const model::GenerationSpec& spec, v1::VideoSpec& proto) {
  if (spec.audio_guidance_scale) proto.set_audio_guidance_scale(*spec.audio_guidance_scale);
  if (spec.audio_guidance_rescale) proto.set_audio_guidance_rescale(*spec.audio_guidance_rescale);
  if (spec.stg_scale) proto.set_stg_scale(*spec.stg_scale);
  if (spec.audio_stg_scale) proto.set_audio_stg_scale(*spec.audio_stg_scale);
  if (spec.modality_scale) proto.set_modality_scale(*spec.modality_scale);
  if (spec.audio_modality_scale) proto.set_audio_modality_scale(*spec.audio_modality_scale);
  proto.mutable_stg_blocks()->Add(spec.stg_blocks.begin(), spec.stg_blocks.end());
}

}  // namespace

model::GenerationSpec SpecFromProto(const v1::VideoSpec& proto) {
  model::GenerationSpec spec;
  spec.model = proto.model();
  spec.preset = proto.preset();
  spec.prompt = proto.prompt();
  if (proto.has_negative_prompt()) spec.negative_prompt = proto.negative_prompt();
  spec.width = proto.width();
  spec.height = proto.height();
  spec.num_frames = proto.num_frames();
  spec.frame_rate = proto.frame_rate();
  spec.num_inference_steps = proto.num_inference_steps();
  spec.timesteps.assign(proto.timesteps().begin(), proto.timesteps().end());
  if (proto.has_guidance_scale()) spec.guidance_scale = proto.guidance_scale();
  if (proto.has_guidance_rescale()) spec.guidance_rescale = proto.guidance_rescale();
  TakeFurtherGuidance(proto, spec);
  if (proto.has_seed()) spec.seed = proto.seed();
  if (proto.has_denoise_strength()) spec.denoise_strength = proto.denoise_strength();
  if (proto.has_image_condition_noise_scale()) {
    spec.image_condition_noise_scale = proto.image_condition_noise_scale();
  }
  if (proto.has_decode_timestep()) spec.decode_timestep = proto.decode_timestep();
  if (proto.has_decode_noise_scale()) spec.decode_noise_scale = proto.decode_noise_scale();
  spec.max_text_tokens = proto.max_text_tokens();
  if (proto.has_condition_crf()) spec.condition_crf = proto.condition_crf();
  if (proto.has_sound()) spec.sound = proto.sound();
  if (proto.has_normalise_loudness()) spec.normalise_loudness = proto.normalise_loudness();
  if (proto.has_keep_state()) spec.keep_state = proto.keep_state();
  if (proto.has_stop_after_pass()) spec.stop_after_pass = proto.stop_after_pass();
  if (proto.has_source()) spec.source = SourceFromProto(proto.source());
  for (const v1::Condition& condition : proto.conditions()) {
    spec.conditions.push_back(ConditionFromProto(condition));
  }
  TakeAdapters(proto, spec);
  TakeChoices(proto, spec);
  spec.worker = proto.worker();
  return spec;
}

v1::VideoSpec SpecToProto(const model::GenerationSpec& spec, bool with_bytes) {
  v1::VideoSpec proto;
  proto.set_model(spec.model);
  proto.set_preset(spec.preset);
  proto.set_prompt(spec.prompt);
  if (spec.negative_prompt) proto.set_negative_prompt(*spec.negative_prompt);
  proto.set_width(spec.width);
  proto.set_height(spec.height);
  proto.set_num_frames(spec.num_frames);
  proto.set_frame_rate(spec.frame_rate);
  proto.set_num_inference_steps(spec.num_inference_steps);
  proto.mutable_timesteps()->Add(spec.timesteps.begin(), spec.timesteps.end());
  if (spec.guidance_scale) proto.set_guidance_scale(*spec.guidance_scale);
  if (spec.guidance_rescale) proto.set_guidance_rescale(*spec.guidance_rescale);
  SetFurtherGuidance(spec, proto);
  if (spec.seed) proto.set_seed(*spec.seed);
  if (spec.denoise_strength) proto.set_denoise_strength(*spec.denoise_strength);
  if (spec.image_condition_noise_scale) {
    proto.set_image_condition_noise_scale(*spec.image_condition_noise_scale);
  }
  if (spec.decode_timestep) proto.set_decode_timestep(*spec.decode_timestep);
  if (spec.decode_noise_scale) proto.set_decode_noise_scale(*spec.decode_noise_scale);
  proto.set_max_text_tokens(spec.max_text_tokens);
  if (spec.condition_crf) proto.set_condition_crf(*spec.condition_crf);
  if (spec.sound) proto.set_sound(*spec.sound);
  if (spec.normalise_loudness) proto.set_normalise_loudness(*spec.normalise_loudness);
  if (spec.keep_state) proto.set_keep_state(*spec.keep_state);
  if (spec.stop_after_pass) proto.set_stop_after_pass(*spec.stop_after_pass);
  if (spec.source) SetSource(*spec.source, *proto.mutable_source());
  for (const model::Condition& condition : spec.conditions) {
    SetCondition(condition, with_bytes, *proto.add_conditions());
  }
  SetAdapters(spec, proto);
  SetChoices(spec, proto);
  proto.set_worker(spec.worker);
  return proto;
}

}  // namespace reel
