// SPDX-License-Identifier: Apache-2.0
#include "model/family/held_latents.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/family/made_passes.h"
#include "model/held_stretch.h"

namespace reel::model {
namespace {

constexpr int64_t kTime = 2;

// Those outside of `free`, where there are any.
std::vector<HeldPiece> Around(const Stretch& free, const at::Tensor& values) {
  std::vector<HeldPiece> pieces;
  if (free.begin > 0) pieces.push_back({values.slice(kTime, 0, free.begin), 0});
  if (free.end < values.size(kTime)) {
    pieces.push_back({values.slice(kTime, free.end), free.end});
  }
  return pieces;
}

HeldLatents OfRetake(const GenerationSpec& resolved, const MadePasses& source,
                     const LatentLayout& layout) {
  const Source::Retake& retake = resolved.source->retake;
  const Stretch none;
  const Stretch pictures =
      retake.keep_pictures ? none : RetakenLatents(resolved, layout.frames_per_latent);
  HeldLatents held;
  held.generators = source.generators;
  held.pictures = Around(pictures, source.latents);
  if (source.decode_noise.defined()) held.decode_noise = Around(pictures, source.decode_noise);
  if (!source.audio_latents.defined()) return held;
  const Stretch sound =
      retake.keep_sound ? none
                        : RetakenSound(resolved, layout.frames_per_latent, layout.sound_per_second,
                                       source.audio_latents.size(kTime));
  held.sound = Around(sound, source.audio_latents);
  return held;
}

// Of the sound of the source, the number of the latent with which the extension's begins.
int64_t FirstSound(const GenerationSpec& resolved, int64_t source_frames, double per_second) {
  const auto before = static_cast<double>(source_frames - resolved.source->extend.overlap_frames);
  return std::llround(before / resolved.frame_rate * per_second);
}

absl::StatusOr<HeldLatents> OfExtension(const GenerationSpec& resolved, const MadePasses& source,
                                        const LatentLayout& layout) {
  const int overlap = resolved.source->extend.overlap_frames;
  const int64_t all = source.latents.size(kTime);
  const int64_t first = all - ((overlap - 1) / layout.frames_per_latent + 1);
  const int64_t source_frames = (all - 1) * layout.frames_per_latent + 1;
  if (first < 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "it has ", source_frames, " frames, fewer than the overlap, which has ", overlap));
  }
  const int64_t context = std::max<int64_t>(first - kContextLatents, 0);
  HeldLatents held;
  held.pictures = {{source.latents.slice(kTime, first), 0}};
  if (first > context) held.before = source.latents.slice(kTime, context, first);
  if (const at::Tensor& noise = source.decode_noise; noise.defined()) {
    held.decode_noise = {{noise.slice(kTime, first), 0}};
    if (first > context) held.noise_before = noise.slice(kTime, context, first);
  }
  if (!source.audio_latents.defined()) return held;
  const int64_t begin = FirstSound(resolved, source_frames, layout.sound_per_second);
  const int64_t end = std::min(source.audio_latents.size(kTime), begin + layout.sound[kTime] - 1);
  if (begin < end) held.sound = {{source.audio_latents.slice(kTime, begin, end), 0}};
  return held;
}

}  // namespace

absl::StatusOr<HeldLatents> HeldOf(const GenerationSpec& resolved, const PassState& source,
                                   const LatentLayout& layout) {
  std::vector<int64_t> pictures = layout.pictures, sound = layout.sound;
  if (resolved.is_extension()) {
    pictures[kTime] = kAnyLength;
    if (!sound.empty()) sound[kTime] = kAnyLength;
  }
  REEL_ASSIGN_OR_RETURN(const MadePasses made, MadePassesOf(source, pictures, sound));
  if (resolved.is_extension()) return OfExtension(resolved, made, layout);
  return OfRetake(resolved, made, layout);
}

void PutPieces(const std::vector<HeldPiece>& pieces, at::Tensor& values) {
  for (const HeldPiece& piece : pieces) {
    values.slice(kTime, piece.first, piece.first + piece.values.size(kTime)).copy_(piece.values);
  }
}

at::Tensor Behind(const at::Tensor& before, const at::Tensor& values) {
  return before.defined() ? at::cat({before.to(values.options()), values}, kTime) : values;
}

}  // namespace reel::model
