// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/refined_clip.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
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

// The autoencoder takes about five seconds at a time, behind so many latents that are encoded again
// and dropped: it looks back.
constexpr int64_t kPieceLatents = 16, kLatentsBefore = 4;
constexpr int64_t kInTime = 2;

absl::Status CheckPixels(const GenerationSpec& spec, const ModelCard& card) {
  const Condition& clip = *RefinedClipOf(spec);
  const FileSize size = RefinedClipSize(spec, card);
  if (clip.pixels == nullptr || clip.pixels->num_frames < 1) {
    return absl::InvalidArgumentError("a clip to refine has no decoded pixels");
  }
  const ConditionPixels& pixels = *clip.pixels;
  const auto bytes = static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.height) * 3 *
                     static_cast<size_t>(pixels.num_frames);
  if (pixels.width == size.width && pixels.height == size.height && pixels.rgb.size() == bytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a clip to refine is ", pixels.width, "x", pixels.height,
                   " pixels after scaling, the first pass ", size.width, "x", size.height));
}

int64_t LatentsIn(const std::vector<at::Tensor>& pieces) {
  int64_t latents = 0;
  for (const at::Tensor& piece : pieces) latents += piece.size(kInTime);
  return latents;
}

at::Tensor Part(const at::Tensor& values, int64_t begin, int64_t end, at::Device device) {
  return Upload(values.slice(kInTime, begin, end), device);
}

// A copy of the whole clip's latents with those of a window in their place.
at::Tensor With(const at::Tensor& whole, const Stretch& place, const at::Tensor& window) {
  at::Tensor copy = whole.clone();
  copy.slice(kInTime, place.begin, place.end).copy_(window);
  return copy;
}

// The clip once its window is done.
RefinedClip NextWindow(const Ltx2Generation& mine) {
  RefinedClip clip = *mine.refined;
  clip.pictures = RefinedPictures(mine);
  clip.sound = RefinedSound(mine);
  clip.pictures_made = clip.windows[clip.window].end;
  clip.sound_made = std::max(clip.sound_made, clip.sound_windows[clip.window].end);
  ++clip.window;
  return clip;
}

// A latent that no later window changes, from those that are done or from the current window.
at::Tensor LatentThatStays(const Ltx2Generation& mine, int64_t index) {
  const RefinedClip& clip = *mine.refined;
  if (index < clip.pictures_made) return clip.pictures.narrow(kInTime, index, 1);
  return UnpackLatents(mine.state.latents.video, mine.sizes.video)
      .narrow(kInTime, index - clip.windows[clip.window].begin, 1);
}

class LatentsThatCome final : public FrameSource {
 public:
  LatentsThatCome(const Ltx2Model& model, const Ltx2Generation& mine)
      : model_(model), mine_(mine) {}

  Frames Next(const Ops&) override {
    if (next_ == LatentsThatStay(mine_)) return {};
    const at::Tensor latents = Upload(LatentThatStays(mine_, next_++), model_.device);
    return {model_.statistics.Denormalize(latents).to(model_.dtype),
            next_ == mine_.refined->windows.back().end};
  }

 private:
  const Ltx2Model& model_;
  const Ltx2Generation& mine_;
  int64_t next_ = 0;
};

std::vector<HeldPiece> HeldSound(const RefinedClip& clip) {
  const Stretch& place = clip.sound_windows[clip.window];
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
  REEL_RETURN_IF_ERROR(CheckPixels(spec, card));
  REEL_ASSIGN_OR_RETURN(mine.state.schedule, GivenSigmaSchedule(SchedulerConfig(), timesteps));
  const Condition& source = *RefinedClipOf(spec);
  RefinedClip clip;
  clip.pixels = source.pixels;
  clip.carried_sound = source.carried_sound;
  clip.windows = RefinementWindows(spec, card);
  const double per_frame = model.transformer.config().latents_per_second() / spec.frame_rate;
  for (const Stretch& each : clip.windows) {
    const auto frames = static_cast<double>(each.begin * card.temporal_multiple);
    const int64_t begin = std::llround(frames * per_frame);
    clip.sound_windows.push_back({begin, begin + window.audio});
  }
  clip.sound = at::zeros({1, window.audio_channels, clip.sound_windows.back().end, window.mel_bins},
                         at::kFloat);
  if (source.sound != nullptr) mine.own_sound = source.sound;
  mine.sizes = window;
  mine.refined = std::move(clip);
  return absl::OkStatus();
}

bool EncodeRefined(const Ops& ops, const Ltx2Model& model, Ltx2Generation& mine) {
  RefinedClip& clip = *mine.refined;
  if (clip.pictures.defined()) return true;
  const int64_t all = clip.windows.back().end, done = LatentsIn(clip.encoded);
  if (done < all) {
    const int64_t first = std::max<int64_t>(done - kLatentsBefore, 0);
    const int64_t last = std::min(done + kPieceLatents, all) - 1;
    const int64_t each = model.vae_config.temporal_compression;
    PictureCondition piece;
    piece.pixels = FramesOf(*clip.pixels, first * each, (last - first) * each + 1, model.dtype);
    const EncodedCondition encoded = EncodeCondition(ops, model, piece, Mode::kCondition);
    clip.encoded.push_back(encoded.latents.slice(kInTime, done - first));
    return false;
  }
  for (const HeldPiece& piece : mine.held.sound) clip.sound_made = piece.values.size(kInTime);
  PutPieces(mine.held.sound, clip.sound);
  clip.knows_sound = clip.carried_sound != nullptr || clip.sound_made >= clip.sound.size(kInTime);
  clip.pictures =
      UpsampleLatents(ops, *model.upsampler, model.statistics, {}, at::cat(clip.encoded, kInTime))
          .cpu();
  mine.held.sound.clear();
  clip.encoded.clear();
  clip.pixels.reset();
  return false;
}

void BeginWindow(const Ltx2Model& model, Ltx2Generation& mine) {
  RefinedClip clip = mine.ready ? NextWindow(mine) : *mine.refined;
  const Stretch& place = clip.windows[clip.window];
  const Stretch& heard = clip.sound_windows[clip.window];
  at::Generator generator = mine.generator.clone();
  const double sigma = mine.state.schedule.sigmas[0];
  const auto noise_like = [&](const at::Tensor& tokens) {
    return DrawNormal(tokens.sizes(), generator, tokens.options());
  };
  std::vector<EncodedCondition> held;
  if (clip.pictures_made > place.begin) {
    held.push_back({.latents = Part(clip.pictures, place.begin, clip.pictures_made, model.device),
                    .is_picture = false});
  }
  const PinnedClip pinned =
      PinnedBy(held, model.transformer.config(), mine.sizes.video, mine.spec.frame_rate,
               PackLatents(Part(clip.pictures, place.begin, place.end, model.device)));
  DenoiseState next = mine.state;
  next.latents.video = pinned.Noised(noise_like(pinned.tokens), sigma);
  const at::Tensor sound = PackAudio(Part(clip.sound, heard.begin, heard.end, model.device));
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
  const RefinedClip& clip = *mine.refined;
  return With(clip.pictures, clip.windows[clip.window],
              UnpackLatents(mine.state.latents.video, mine.sizes.video));
}

at::Tensor RefinedMiddle(const Ltx2Generation& mine) {
  const RefinedClip& clip = *mine.refined;
  const Stretch& place = clip.windows[clip.window];
  const int64_t middle = clip.pictures.size(kInTime) / 2;
  if (middle < place.begin || middle >= place.end) return clip.pictures.narrow(kInTime, middle, 1);
  return UnpackLatents(mine.state.latents.video, mine.sizes.video)
      .narrow(kInTime, middle - place.begin, 1);
}

int64_t LatentsThatStay(const Ltx2Generation& mine) {
  const RefinedClip& clip = *mine.refined;
  return mine.ready && mine.state.is_done() ? clip.windows[clip.window].end : clip.pictures_made;
}

FrameSourcePtr RefinedSource(const Ltx2Model& model, const Ltx2Generation& mine) {
  return std::make_unique<LatentsThatCome>(model, mine);
}

at::Tensor RefinedSound(const Ltx2Generation& mine) {
  const RefinedClip& clip = *mine.refined;
  return With(clip.sound, clip.sound_windows[clip.window],
              UnpackAudio(mine.state.latents.audio, mine.sizes.mel_bins));
}

}  // namespace reel::model::ltx2
