// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/refined_clip.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/base/status_macros.h"
#include "model/bridge/random.h"
#include "model/bridge/upload.h"
#include "model/ltx2/conditioning.h"
#include "model/ltx2/ltx2_generation.h"
#include "model/own_sound.h"
#include "model/pass_work.h"
#include "model/refinement.h"

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kInTime = 2;

at::Tensor WindowPictures(const Ltx2Generation& mine) {
  return UnpackLatents(mine.state.latents.video, mine.sizes.video);
}

// The clip once its window is done.
RefinedClip NextWindow(const Ltx2Generation& mine) {
  RefinedClip clip = *mine.refined;
  clip.sound = RefinedSound(mine);
  clip.sound_made = std::max(clip.sound_made, clip.sound_place().end);
  clip.pictures = BehindWindow(clip.pictures, WindowPictures(mine));
  return clip;
}

std::vector<int64_t> LatentsWithSound(const Ltx2Model& model, const ModelCard& card,
                                      const GenerationSpec& spec, const RefinedClip& clip) {
  const double samples_per_frame = model.sound.format().sample_rate / spec.frame_rate;
  std::vector<int64_t> latents;
  for (const Stretch& piece : SoundPieces(clip)) {
    const auto samples = static_cast<double>(model.sound.SamplesOf(piece.end) - kSoundAhead);
    // One sample less, since the file rounds a frame's end to whole samples.
    const auto frames = static_cast<int64_t>(std::floor((samples - 1) / samples_per_frame));
    latents.push_back(frames < 1 ? 0 : (frames - 1) / card.temporal_multiple + 1);
  }
  // Silence follows the last piece.
  latents.back() = clip.pictures.size();
  return latents;
}

std::vector<HeldPiece> HeldSound(const RefinedClip& clip) {
  const Stretch& place = clip.sound_place();
  const int64_t end = std::min(clip.sound_made, place.end);
  if (end <= place.begin) return {};
  return {{clip.sound.slice(kInTime, place.begin, end), 0}};
}

}  // namespace

absl::Status PlanRefinement(const Ltx2Model& model, const ModelCard& card,
                            const GenerationSpec& spec, const LatentSizes& window,
                            Ltx2Generation& mine) {
  const std::vector<double> timesteps = RefinementTimesteps(spec, card);
  if (!model.upsampler.has_value() || timesteps.empty()) {
    return absl::FailedPreconditionError("the model has no latent upsampler to refine a clip with");
  }
  const Condition& source = *RefinedClipOf(spec);
  RefinedClip clip;
  REEL_ASSIGN_OR_RETURN(clip.pictures, PlanWindows(spec, card));
  REEL_ASSIGN_OR_RETURN(mine.state.schedule, GivenSigmaSchedule(SchedulerConfig(), timesteps));
  clip.carried_sound = source.carried_sound;
  const double per_frame = model.transformer.config().latents_per_second() / spec.frame_rate;
  for (const Stretch& each : clip.pictures.windows) {
    const auto frames = static_cast<double>(each.begin * card.temporal_multiple);
    const int64_t begin = std::llround(frames * per_frame);
    clip.sound_windows.push_back({begin, begin + window.audio});
  }
  clip.sound_ahead = model.sound.ahead();
  clip.latents_with_sound = LatentsWithSound(model, card, spec, clip);
  clip.sound = at::zeros({1, window.audio_channels, clip.sound_windows.back().end, window.mel_bins},
                         at::kFloat);
  if (source.sound != nullptr) mine.own_sound = source.sound;
  mine.sizes = window;
  mine.refined = std::move(clip);
  return absl::OkStatus();
}

bool EncodeRefined(const Ops& ops, const Ltx2Model& model, Ltx2Generation& mine) {
  RefinedClip& clip = *mine.refined;
  ClipInWindows& pictures = clip.pictures;
  if (pictures.latents.defined()) return true;
  const auto encode = [&](int64_t first, int64_t count) {
    PictureCondition piece;
    piece.pixels = FramesOf(*pictures.pixels, first, count, model.dtype);
    return EncodeCondition(ops, model, piece, Mode::kCondition).latents;
  };
  if (EncodeNextPiece(pictures, model.vae_config.temporal_compression, encode)) {
    return false;
  }
  for (const HeldPiece& piece : mine.held.sound) clip.sound_made = piece.values.size(kInTime);
  PutPieces(mine.held.sound, clip.sound);
  clip.knows_sound = clip.carried_sound != nullptr || clip.sound_made >= clip.sound.size(kInTime);
  TakeLatents(pictures, UpsampleLatents(ops, *model.upsampler, model.statistics, {},
                                        at::cat(pictures.encoded, kInTime)));
  mine.held.sound.clear();
  return false;
}

void BeginWindow(const Ltx2Model& model, Ltx2Generation& mine) {
  RefinedClip clip = mine.ready ? NextWindow(mine) : *mine.refined;
  const ClipInWindows& pictures = clip.pictures;
  const Stretch& place = pictures.place();
  const Stretch& heard = clip.sound_place();
  at::Generator generator = mine.generator.clone();
  const double sigma = mine.state.schedule.sigmas[0];
  const auto noise_like = [&](const at::Tensor& tokens) {
    return DrawNormal(tokens.sizes(), generator, tokens.options());
  };
  std::vector<EncodedCondition> held;
  if (pictures.made > place.begin) {
    held.push_back(
        {.latents = UploadPart(pictures.latents, place.begin, pictures.made, model.device),
         .is_picture = false});
  }
  const PinnedClip pinned =
      PinnedBy(held, model.transformer.config(), mine.sizes.video, mine.spec.frame_rate,
               PackLatents(UploadPart(pictures.latents, place.begin, place.end, model.device)));
  DenoiseState next = mine.state;
  next.latents.video = pinned.Noised(noise_like(pinned.tokens), sigma);
  const at::Tensor sound = PackAudio(UploadPart(clip.sound, heard.begin, heard.end, model.device));
  next.latents.audio = Noised(sound, noise_like(sound), sigma);
  HoldSound(HeldSound(clip), next);
  next.pins = pinned.pins;
  next.pins.exact = next.pins.exist();
  next.step = 0;
  mine.steps_before = mine.ready ? mine.step() : 0;
  mine.state = std::move(next);
  mine.refined = std::move(clip);
  mine.generator = generator;
}

at::Tensor RefinedPictures(const Ltx2Generation& mine) {
  const ClipInWindows& clip = mine.refined->pictures;
  return WithPart(clip.latents, clip.place(), WindowPictures(mine));
}

at::Tensor RefinedMiddle(const Ltx2Generation& mine) {
  const ClipInWindows& clip = mine.refined->pictures;
  return LatentAt(clip, clip.size() / 2, WindowPictures(mine));
}

int64_t LatentsThatStay(const Ltx2Generation& mine) {
  return LatentsThatStay(mine.refined->pictures, mine.ready && mine.state.is_done());
}

int64_t LatentsWithSound(const Ltx2Generation& mine) {
  const int pieces = SoundPiecesThatStay(mine);
  if (pieces == 0) return 0;
  return std::min(LatentsThatStay(mine),
                  mine.refined->latents_with_sound[static_cast<size_t>(pieces) - 1]);
}

std::vector<Stretch> SoundPieces(const RefinedClip& clip) {
  const int64_t all = clip.sound_windows.back().end;
  if (clip.knows_sound) return {{0, all}};
  std::vector<Stretch> pieces;
  int64_t begin = 0;
  for (const Stretch& window : clip.sound_windows) {
    const int64_t end = window.end == all ? all : std::max(begin, window.end - clip.sound_ahead);
    pieces.push_back({begin, end});
    begin = end;
  }
  return pieces;
}

int SoundPiecesThatStay(const Ltx2Generation& mine) {
  const RefinedClip& clip = *mine.refined;
  if (clip.knows_sound) return 1;
  return static_cast<int>(clip.pictures.window) + (mine.ready && mine.state.is_done() ? 1 : 0);
}

FrameSourcePtr RefinedSource(const Ltx2Model& model, const Ltx2Generation& mine) {
  return SourceOf(
      {.all = mine.refined->pictures.size(),
       .that_stay = [&mine] { return mine.latents_that_stay(); },
       .decodable =
           [&model, &mine](int64_t index) {
             const at::Tensor latent =
                 LatentAt(mine.refined->pictures, index, WindowPictures(mine));
             return model.statistics.Denormalize(Upload(latent, model.device)).to(model.dtype);
           }});
}

at::Tensor RefinedSound(const Ltx2Generation& mine) {
  const RefinedClip& clip = *mine.refined;
  return WithPart(clip.sound, clip.sound_place(),
                  UnpackAudio(mine.state.latents.audio, mine.sizes.mel_bins));
}

}  // namespace reel::model::ltx2
