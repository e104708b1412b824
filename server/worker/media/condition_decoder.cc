// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/condition_decoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/own_sound.h"
#include "model/reference_clip.h"
#include "model/refinement.h"
#include "server/worker/media/clip_decoder.h"
#include "server/worker/media/picture_compression.h"
#include "server/worker/media/picture_decoder.h"
#include "server/worker/media/picture_scaler.h"
#include "server/worker/media/sound_decoder.h"

extern "C" {
#include <libavutil/log.h>
#include <libavutil/mem.h>
}

namespace reel::worker {
namespace {

// The most that libav may allocate at once: a few hostile bytes of an index may ask for gigabytes;
// a picture needs at most eight bytes a pixel.
size_t MaxBlockBytes(int64_t max_pixels) {
  constexpr size_t kLeast = size_t{64} << 20;
  return kLeast + 8 * static_cast<size_t>(max_pixels);
}

// The longest clip at half of 1920x1088, and its sound. A frame of 1920x1080 took 63 ms to decode
// and scale (two cores that others used, 2026-11-30).
constexpr int64_t kMostRefinedBytes = int64_t{1280} << 20;
constexpr absl::Duration kMostRefinedTime = absl::Minutes(4);

// The time and memory used by a request's conditions so far.
class Budget {
  using Clock =
      std::chrono::steady_clock;  // a monotonic clock: setting the host's clock refuses no clip

 public:
  Budget(const DecodeLimits& limits, const std::atomic<bool>& stop)
      : limits_(limits),
        stop_(stop),
        end_(Clock::now() + absl::ToChronoNanoseconds(limits.max_time)) {}

  absl::Status Proceed() const {
    if (stop_) return absl::CancelledError("the job has ended");
    if (Clock::now() < end_) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("takes too long to decode: more than ",
                                                   absl::ToInt64Seconds(limits_.max_time),
                                                   " s; use a shorter or smaller clip"));
  }
  absl::Status Take(size_t bytes) {
    bytes_ += static_cast<int64_t>(bytes);
    if (bytes_ <= limits_.max_bytes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("is too large: with the conditions before it, it decodes to more than ",
                     limits_.max_bytes >> 20, " MiB; use a shorter clip"));
  }
  int64_t max_pixels() const { return limits_.max_pixels; }

 private:
  const DecodeLimits& limits_;
  const std::atomic<bool>& stop_;
  const Clock::time_point end_;
  int64_t bytes_ = 0;
};

// The decoded pictures of one condition.
class Pictures {
 public:
  // Keeps the first frame and then one of `every`.
  Pictures(const model::FileSize& size, Budget& budget, int every = 1)
      : budget_(budget), every_(every) {
    pixels_->width = size.width;
    pixels_->height = size.height;
  }

  model::RgbImage Scaled(const model::RgbImage& image) const {
    return ScaleLanczos(image, pixels_->width, pixels_->height);
  }
  absl::Status AddScaled(const model::RgbImage& scaled) {
    const int frame = count_++;
    if (frame > 0 && (frame - 1) % every_ != 0) return absl::OkStatus();
    REEL_RETURN_IF_ERROR(budget_.Take(scaled.pixels.size()));
    pixels_->rgb.insert(pixels_->rgb.end(), scaled.pixels.begin(), scaled.pixels.end());
    ++pixels_->num_frames;
    return absl::OkStatus();
  }
  absl::Status Add(const model::RgbImage& image) { return AddScaled(Scaled(image)); }
  void SetCut() { pixels_->is_cut = true; }
  int count() const { return count_; }  // of all that were added
  std::shared_ptr<const model::ConditionPixels> Finish() { return std::move(pixels_); }

 private:
  Budget& budget_;
  const int every_;
  int count_ = 0;
  std::shared_ptr<model::ConditionPixels> pixels_ = std::make_shared<model::ConditionPixels>();
};

absl::Status AddClip(const std::string& bytes, int most, Budget& budget, Pictures& pictures) {
  absl::Status added;
  REEL_RETURN_IF_ERROR(DecodeClip(
      bytes, budget.max_pixels(), [&] { return budget.Proceed(); },
      [&](const ClipPicture& picture) {
        added = pictures.Add(picture.image);
        return added.ok() && pictures.count() < most;
      }));
  return added;
}

// Turns pictures, each shown for a while, into frames of a rate. Each begins at the frame that is
// nearest.
class FramesAtRate {
 public:
  FramesAtRate(const model::GenerationSpec& spec, Pictures& pictures)
      : rate_(spec.frame_rate), most_(spec.num_frames), pictures_(pictures) {}

  // False: the video is full.
  absl::StatusOr<bool> Add(const ClipPicture& picture) {
    const int begin = FrameAt(picture.begin);
    REEL_RETURN_IF_ERROR(RepeatUntil(begin));
    if (picture.begin * rate_ > most_ - kSameFrame) {
      pictures_.SetCut();
      return false;
    }
    if (begin >= most_) return true;  // half a frame before the video's end
    shown_ = pictures_.Scaled(picture.image);
    end_ = std::max(FrameAt(picture.end), begin + 1);
    return true;
  }
  absl::Status Finish() { return RepeatUntil(std::min(end_, most_)); }

 private:
  int FrameAt(double seconds) const {
    const double nearest = std::floor(seconds * rate_ + 0.5 + kSameFrame);
    return static_cast<int>(std::clamp(nearest, 0.0, most_ + 1.0));
  }
  absl::Status RepeatUntil(int frame) {
    while (pictures_.count() < std::min(frame, most_)) {
      REEL_RETURN_IF_ERROR(pictures_.AddScaled(shown_));
    }
    return absl::OkStatus();
  }

  static constexpr double kSameFrame = 1e-3;

  const double rate_;
  const int most_;
  Pictures& pictures_;
  model::RgbImage shown_;
  int end_ = 0;  // of what is shown, in frames
};

// The frames that are shown at the video's rate.
absl::StatusOr<std::shared_ptr<const model::ConditionPixels>> DecodeAtRate(
    const model::GenerationSpec& spec, const std::string& bytes, Budget& budget,
    Pictures pictures) {
  FramesAtRate frames(spec, pictures);
  absl::StatusOr<bool> more = true;
  REEL_RETURN_IF_ERROR(DecodeClip(
      bytes, budget.max_pixels(), [&] { return budget.Proceed(); },
      [&](const ClipPicture& picture) {
        more = frames.Add(picture);
        return more.ok() && *more;
      }));
  REEL_RETURN_IF_ERROR(more.status());
  REEL_RETURN_IF_ERROR(frames.Finish());
  return pictures.Finish();
}

absl::StatusOr<std::shared_ptr<const model::ConditionPixels>> DecodePixels(
    const model::GenerationSpec& spec, const model::Condition& condition, Budget& budget) {
  Pictures pictures({spec.width, spec.height}, budget);
  if (condition.kind == model::Condition::Kind::kVideo) {
    const int room = spec.num_frames - condition.frame_index;
    if (room < 1) return absl::InvalidArgumentError("begins after the video's last frame");
    REEL_RETURN_IF_ERROR(AddClip(*condition.bytes, room, budget, pictures));
  } else {
    REEL_ASSIGN_OR_RETURN(model::RgbImage image,
                          DecodePicture(*condition.bytes, budget.max_pixels()));
    if (const int crf = spec.condition_crf.value_or(0); crf > 0) {
      REEL_RETURN_IF_ERROR(budget.Proceed());
      REEL_ASSIGN_OR_RETURN(image, Compressed(image, crf));
    }
    REEL_RETURN_IF_ERROR(pictures.Add(image));
  }
  return pictures.Finish();
}

absl::StatusOr<std::shared_ptr<const model::ConditionSound>> DecodeSoundOf(
    const model::GenerationSpec& spec, const model::Condition& condition,
    const model::SoundFormat& format, Budget& budget) {
  const double seconds = spec.num_frames / spec.frame_rate;
  const auto samples = static_cast<int64_t>(std::ceil(seconds * format.sample_rate));
  const int64_t values = samples * format.channels;
  REEL_RETURN_IF_ERROR(budget.Take(static_cast<size_t>(values) * sizeof(float)));
  return DecodeSound(*condition.bytes, format, samples, [&] { return budget.Proceed(); });
}

// The sound of a clip that is refined: as the model hears it, and as the video has it.
absl::Status DecodeSoundsOf(const model::GenerationSpec& spec, const DecodeLimits& limits,
                            Budget& budget, model::Condition& clip) {
  const bool silent = !spec.sound.value_or(false) || model::OwnSoundOf(spec) != nullptr;
  if (silent || !limits.carried_sound.exists() || !HasSound(*clip.bytes)) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(clip.carried_sound,
                        DecodeSoundOf(spec, clip, limits.carried_sound, budget));
  if (!limits.sound.exists()) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(clip.sound, DecodeSoundOf(spec, clip, limits.sound, budget));
  return absl::OkStatus();
}

absl::Status Decode(const model::GenerationSpec& spec, const DecodeLimits& limits, Budget& budget,
                    model::Condition& condition) {
  if (condition.pixels != nullptr || condition.sound != nullptr) return absl::OkStatus();
  if (condition.bytes == nullptr) return absl::FailedPreconditionError("has no data");
  REEL_RETURN_IF_ERROR(budget.Proceed());
  if (condition.is_sound()) {
    REEL_ASSIGN_OR_RETURN(condition.sound, DecodeSoundOf(spec, condition, limits.sound, budget));
  } else if (condition.is_refined()) {
    REEL_ASSIGN_OR_RETURN(condition.pixels, DecodeAtRate(spec, *condition.bytes, budget,
                                                         Pictures(limits.refined, budget)));
    return DecodeSoundsOf(spec, limits, budget, condition);
  } else if (condition.is_reference()) {
    if (limits.reference.width < 1) {
      return absl::InvalidArgumentError("is a reference, but no adapter wants one");
    }
    REEL_ASSIGN_OR_RETURN(condition.pixels,
                          DecodeAtRate(spec, *condition.bytes, budget,
                                       Pictures(limits.reference, budget, limits.reference_every)));
  } else {
    REEL_ASSIGN_OR_RETURN(condition.pixels, DecodePixels(spec, condition, budget));
  }
  return absl::OkStatus();
}

}  // namespace

DecodeLimits DecodeLimits::For(const model::GenerationSpec& resolved, const model::ModelCard& card,
                               int64_t max_pixels) {
  DecodeLimits limits;
  limits.max_pixels = max_pixels;
  limits.sound = card.own_sound;
  if (const auto scale = model::ReferenceScaleOf(resolved)) {
    limits.reference = model::ReferenceSize({resolved.width, resolved.height}, *scale);
    limits.reference_every = scale->frames;
  }
  if (model::RefinedClipOf(resolved) == nullptr) return limits;
  limits.carried_sound = card.sound;
  limits.refined = model::RefinedClipSize(resolved, card);
  limits.max_bytes = kMostRefinedBytes;
  limits.max_time = kMostRefinedTime;
  return limits;
}

absl::Status DecodeConditions(model::GenerationSpec& spec, const DecodeLimits& limits,
                              const std::atomic<bool>& stop) {
  // Both settings are global to the process; libav has nothing finer. Its own messages would garble
  // the log, and errors come back as codes.
  av_log_set_level(AV_LOG_QUIET);
  av_max_alloc(MaxBlockBytes(limits.max_pixels));
  Budget budget(limits, stop);
  std::vector<model::Condition> decoded = spec.conditions;
  for (size_t i = 0; i < decoded.size(); ++i) {
    const absl::Status status = Decode(spec, limits, budget, decoded[i]);
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat("A condition cannot be used: conditions[", i,
                                                    "] ", status.message()));
  }
  spec.conditions = std::move(decoded);
  return absl::OkStatus();
}

ConditionDecoder::ConditionDecoder(model::GenerationSpec spec, DecodeLimits limits, Signal signal)
    : spec_(std::move(spec)),
      limits_(limits),
      signal_(std::move(signal)),
      thread_([this] { Run(); }) {}

ConditionDecoder::~ConditionDecoder() {
  Abandon();
  thread_.join();
}

void ConditionDecoder::Run() {
  absl::Status status = DecodeConditions(spec_, limits_, stop_);
  {
    MutexLock lock(mutex_);
    status_ = std::move(status);
  }
  signal_();
}

bool ConditionDecoder::done() const {
  MutexLock lock(mutex_);
  return status_.has_value();
}

absl::StatusOr<std::vector<model::Condition>> ConditionDecoder::result() const {
  MutexLock lock(mutex_);
  if (!status_) return absl::FailedPreconditionError("The conditions are not decoded yet");
  REEL_RETURN_IF_ERROR(*status_);
  return spec_.conditions;
}

}  // namespace reel::worker
