// SPDX-License-Identifier: Apache-2.0
// A request as C++ values: the twin of the API's VideoSpec, with its meanings and units. As sent,
// 0, empty and nullopt mean "take the default"; Resolve (resolve.h) fills every field.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/frame_sink.h"
#include "model/request_adapter.h"

namespace reel::model {

// Decoded pictures of a condition: [num_frames, height, width, 3]. As wide and high as the video;
// a clip to refine has the first pass's size, a reference clip the size that its adapter wants.
struct ConditionPixels {
  int width = 0, height = 0, num_frames = 0;
  std::vector<uint8_t> rgb;
  bool is_cut = false;  // a clip to refine or a reference is longer than the video
};

// Decoded sound of a condition, from the video's beginning to its end at most.
struct ConditionSound {
  SoundFormat format;
  std::vector<float> interleaved;
  bool is_cut = false;  // the file goes on behind the video's end

  int64_t samples() const {  // of each channel
    return static_cast<int64_t>(interleaved.size()) / format.channels;
  }
};

// A file beside the prompt: a picture or clip that a stretch of the video must follow, or the sound
// that all of it follows. `use` says what else a clip can be. The bytes travel beside the spec,
// never in a log.
struct Condition {
  enum class Kind { kImage, kVideo, kAudio };
  enum class Use {
    kFrames,     // the video's frames follow it
    kRefine,     // it stands in place of a first pass (refinement.h)
    kReference,  // an adapter wants it (reference_clip.h)
  };
  Kind kind = Kind::kImage;
  Use use = Use::kFrames;
  int frame_index = 0;
  std::optional<double> strength;
  std::optional<double> attention_strength;  // of a reference clip alone (reference_clip.h)
  std::string content_type;
  int64_t size_bytes = 0;
  std::string sha256;                        // lower-case hex
  std::shared_ptr<const std::string> bytes;  // as sent; null if only the description is known
  std::string file;  // "files/...", if the bytes were uploaded before the request
  std::shared_ptr<const ConditionPixels> pixels;  // set in the worker, by the decoder of `bytes`
  // Likewise, in place of pixels; of a clip that is refined beside them, where it has sound.
  std::shared_ptr<const ConditionSound> sound;
  // The sound of a clip that is refined as the video has it.
  std::shared_ptr<const ConditionSound> carried_sound;

  bool is_sound() const { return kind == Kind::kAudio; }
  bool is_refined() const { return use == Use::kRefine; }
  bool is_reference() const { return use == Use::kReference; }

  // Compares bytes by size and hash.
  friend bool operator==(const Condition& a, const Condition& b) {
    return a.kind == b.kind && a.use == b.use && a.frame_index == b.frame_index &&
           a.strength == b.strength && a.attention_strength == b.attention_strength &&
           a.content_type == b.content_type && a.size_bytes == b.size_bytes && a.sha256 == b.sha256;
  }
};

// Of an extension, where a request does not say.
inline constexpr int kOverlapFrames = 25;

// The member of the API's Condition that has the bytes.
constexpr const char* FieldOf(Condition::Kind kind) {
  switch (kind) {
    case Condition::Kind::kVideo:
      return "video";
    case Condition::Kind::kAudio:
      return "audio";
    case Condition::Kind::kImage:
      break;
  }
  return "image";
}

// A kept video that this one goes on from. The bytes of its state travel beside the spec.
struct Source {
  enum class Begin {
    kUnspecified,
    kPromote,  // by the passes that a draft left out
    kExtend,   // by frames behind its last ones
    kRetake,   // as long as it is, with a stretch of it made anew
  };
  // So many new frames behind so many of the source's last ones, whose latents are held.
  struct Extend {
    int num_frames = 0;
    int overlap_frames = 0;
    bool join = false;      // the file begins with the source's
    int source_frames = 0;  // of the source's file, where it is joined; made by the server

    friend bool operator==(const Extend&, const Extend&) = default;
  };
  // In seconds. Latents outside are held; inside, those that are not kept start from noise.
  struct Retake {
    double begin = 0, end = 0;
    bool keep_pictures = false, keep_sound = false;

    friend bool operator==(const Retake&, const Retake&) = default;
  };

  std::string video = {};  // "videos/..."
  Begin begin = Begin::kUnspecified;
  std::string state_sha256 = {};  // lower-case hex
  // Null if only the description is known, or it is gone.
  std::shared_ptr<const std::string> state = nullptr;
  Extend extend = {};  // as `begin` says
  Retake retake = {};

  // Compares states by hash.
  friend bool operator==(const Source& a, const Source& b) {
    return a.video == b.video && a.begin == b.begin && a.state_sha256 == b.state_sha256 &&
           a.extend == b.extend && a.retake == b.retake;
  }
};

// Which of the reference's pipelines runs a conditioned request. kAuto: the one for conditions, or
// the one for a first image if the model's schedule allows no other. Not part of the API.
enum class ConditionPipeline { kAuto, kImage, kCondition };

// The implementation of each operator.
struct KernelSelection {
  std::string profile;
  std::map<std::string, std::string> variants;  // operator to variant, on top of the profile
  std::string experiment;
  std::string arm;

  friend bool operator==(const KernelSelection&, const KernelSelection&) = default;
};

// When a step reuses an earlier result; only for the kernel profile "cache". Unset fields stay
// unset and mean the model's own, from its card.
struct CacheOptions {
  std::optional<double> threshold;  // on the relative change of the first block; 0: never
  std::optional<int> most_reused;   // most reused steps in a row

  friend bool operator==(const CacheOptions&, const CacheOptions&) = default;
};

struct PreviewOptions {
  int every_steps = 0;  // 0: none
  int max_side = 0;     // pixels

  friend bool operator==(const PreviewOptions&, const PreviewOptions&) = default;
};

enum class VideoCodec { kUnspecified, kH264 };
// What a file says of how it was made. kUnspecified stays, and is as kMark: jobs that an earlier
// build admitted go on.
enum class Origin { kUnspecified, kNone, kMark, kSpec };
enum class EncodingSpeed { kUnspecified, kUltrafast, kSuperfast, kVeryfast, kFaster, kMedium };

struct EncodingOptions {
  VideoCodec codec = VideoCodec::kUnspecified;
  std::optional<int> crf;
  EncodingSpeed speed = EncodingSpeed::kUnspecified;
  Origin origin = Origin::kUnspecified;

  friend bool operator==(const EncodingOptions&, const EncodingOptions&) = default;
};

struct GenerationSpec {
  std::string model;
  std::string preset;
  std::string prompt;
  std::optional<std::string> negative_prompt;  // empty is a value: nothing to steer away from
  int width = 0;
  int height = 0;
  int num_frames = 0;
  double frame_rate = 0;
  int num_inference_steps = 0;
  std::vector<double> timesteps;  // own descending schedule; num_inference_steps stays 0 then
  std::optional<double> guidance_scale;
  std::optional<double> guidance_rescale;
  std::optional<double> audio_guidance_scale, audio_guidance_rescale;
  std::optional<double> stg_scale, audio_stg_scale;
  std::optional<double> modality_scale, audio_modality_scale;
  std::vector<int> stg_blocks;
  std::optional<uint64_t> seed;  // only the low 32 bits are used
  std::optional<double> denoise_strength;
  std::optional<double> image_condition_noise_scale;
  std::optional<double> decode_timestep;
  std::optional<double> decode_noise_scale;
  int max_text_tokens = 0;
  std::optional<int> condition_crf;
  std::vector<Condition> conditions;
  ConditionPipeline condition_pipeline = ConditionPipeline::kAuto;
  KernelSelection kernels;
  CacheOptions cache;
  std::vector<RequestAdapter> adapters;
  std::optional<bool> sound;  // whether the file has a sound track
  // LUFS that the sound is brought to; unset: as the model makes it.
  std::optional<double> normalise_loudness;
  std::optional<bool> keep_state;      // for requests that go on from it; unset: no
  std::optional<int> stop_after_pass;  // a draft: so many passes are made; unset: all
  std::optional<Source> source;
  PreviewOptions preview;
  EncodingOptions encoding;
  std::string worker;  // name of a worker to run on; empty: the scheduler decides

  bool is_promotion() const { return source && source->begin == Source::Begin::kPromote; }
  bool is_extension() const { return source && source->begin == Source::Begin::kExtend; }
  bool is_retake() const { return source && source->begin == Source::Begin::kRetake; }
  // Whether latents of another video are held in this one.
  bool holds_latents() const { return is_extension() || is_retake(); }
  // Whether the file begins with the source video's file.
  bool is_joined() const { return is_extension() && source->extend.join; }
  // The frames of the file of a resolved spec; a joined one's are more than those that are made.
  int file_frames() const {
    return is_joined() ? source->extend.source_frames + source->extend.num_frames : num_frames;
  }
  // For a resolved spec.
  int num_steps() const {
    return timesteps.empty() ? num_inference_steps : static_cast<int>(timesteps.size());
  }

  friend bool operator==(const GenerationSpec&, const GenerationSpec&) = default;
};

}  // namespace reel::model
