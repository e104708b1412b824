// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/conditioning.h"

#include <algorithm>
#include <utility>

#include "model/bridge/upload.h"
#include "model/own_sound.h"

namespace reel::model::ltx2 {
namespace {

// By how much tokens are pinned, each value once.
class Strengths {
 public:
  explicit Strengths(int64_t own_tokens) : of_(static_cast<size_t>(own_tokens)) {}

  void Set(int64_t first, int64_t count, double strength) {
    std::fill_n(of_.begin() + first, count, Number(strength));
  }
  void Append(int64_t count, double strength) {
    of_.insert(of_.end(), static_cast<size_t>(count), Number(strength));
  }

  int64_t tokens() const { return static_cast<int64_t>(of_.size()); }
  at::Tensor values() const {
    return at::tensor(values_, at::TensorOptions(at::kFloat)).unsqueeze(1);
  }
  // Of each token, which of the values.
  at::Tensor numbers() const { return at::tensor(of_, at::TensorOptions(at::kInt)).unsqueeze(0); }

 private:
  int32_t Number(double strength) {
    const auto value = static_cast<float>(strength);
    const auto known = std::find(values_.begin(), values_.end(), value);
    if (known != values_.end()) return static_cast<int32_t>(known - values_.begin());
    values_.push_back(value);
    return static_cast<int32_t>(values_.size()) - 1;
  }

  std::vector<float> values_ = {0};  // of tokens without a condition
  std::vector<int32_t> of_;
};

Pins PinsOf(const Strengths& strengths, at::Tensor clean) {
  Pins pins;
  const at::Tensor values = Upload(strengths.values(), clean.device());
  pins.free = 1 - values;
  pins.free_of = Upload(strengths.numbers(), clean.device());
  pins.mask = ForTokens(values.unsqueeze(2), pins.free_of);
  pins.clean = std::move(clean);
  return pins;
}

}  // namespace

absl::StatusOr<Mode> ModeOf(const GenerationSpec& spec) {
  using enum ConditionPipeline;
  const bool one_picture = HasOneFirstPicture(spec);
  if (spec.condition_pipeline == kImage && !one_picture) {
    return absl::InvalidArgumentError(
        "the image pipeline takes exactly one image, at frame 0 with strength 1");
  }
  if (spec.condition_pipeline == kCondition) return Mode::kCondition;
  if (NumPictures(spec) == 0) return Mode::kText;
  return one_picture ? Mode::kImage : Mode::kCondition;
}

EncodedCondition EncodeCondition(const Ops& ops, const Ltx2Model& model,
                                 const PictureCondition& condition, Mode mode) {
  const at::Tensor pixels = Upload(condition.pixels, model.device);
  at::Tensor latents = model.encoder.Encode(ops, pixels).mean;
  if (mode == Mode::kImage) latents = latents.to(at::kFloat);
  return {.latents = model.statistics.Normalize(latents).to(at::kFloat),
          .frame_index = condition.frame_index,
          .strength = condition.strength,
          .is_picture = condition.pixels.size(2) == 1,
          .reference = condition.reference,
          .attention_strength = condition.attention_strength};
}

int64_t LatentFrames(const PictureCondition& condition, int64_t frames_per_latent) {
  return (condition.pixels.size(2) - 1) / frames_per_latent + 1;
}

int64_t AddedFrames(const std::vector<PictureCondition>& conditions, int64_t frames_per_latent) {
  int64_t frames = 0;
  for (const PictureCondition& condition : conditions) {
    if (condition.frame_index > 0) frames += LatentFrames(condition, frames_per_latent);
  }
  return frames;
}

at::Tensor PinnedClip::Noised(const at::Tensor& noise, double sigma) const {
  if (!pins.exist()) return reel::model::Noised(tokens, noise, sigma);
  const at::Tensor share = (1 - pins.mask) * sigma;
  return noise * share + tokens * (1 - share);
}

PinnedClip PinnedBy(const std::vector<EncodedCondition>& conditions,
                    const TransformerConfig& config, const LatentShape& shape, double frame_rate,
                    const at::Tensor& base) {
  PinnedClip clip = {base, VideoPlaces(config, shape, frame_rate), {}, {base.size(1), {}}};
  if (conditions.empty()) return clip;
  Strengths strengths(base.size(1));
  at::Tensor own = base.clone(), clean = at::zeros_like(base);
  std::vector<at::Tensor> behind, places = {clip.places};
  const auto append = [&](const EncodedCondition& condition, const at::Tensor& its_places) {
    behind.push_back(PackLatents(condition.latents));
    places.push_back(its_places);
    strengths.Append(behind.back().size(1), condition.strength);
  };
  for (const EncodedCondition& condition : conditions) {
    if (condition.reference.has_value()) continue;
    if (condition.is_inside()) {
      append(condition, InsidePlaces(config, {condition.latents.size(2), shape.height, shape.width},
                                     frame_rate, condition.frame_index, condition.is_picture));
      continue;
    }
    const at::Tensor tokens = PackLatents(condition.latents);
    const int64_t count = tokens.size(1);
    const int64_t first = condition.first_latent * shape.height * shape.width;
    own.slice(1, first, first + count).copy_(tokens);
    clean.slice(1, first, first + count).copy_(tokens);
    strengths.Set(first, count, condition.strength);
  }
  for (const EncodedCondition& condition : conditions) {
    if (!condition.reference.has_value()) continue;
    const at::Tensor& latents = condition.latents;
    const int64_t first = strengths.tokens();
    append(condition, ReferencePlaces(config, {latents.size(2), latents.size(3), latents.size(4)},
                                      frame_rate, *condition.reference));
    clip.references.clips.push_back(
        {first, strengths.tokens() - first, condition.attention_strength});
  }
  const auto with_those_behind = [&](const at::Tensor& first) {
    std::vector<at::Tensor> parts = {first};
    parts.insert(parts.end(), behind.begin(), behind.end());
    return at::cat(parts, 1);
  };
  clip.tokens = with_those_behind(own);
  clip.places = at::cat(places, 1);
  clip.pins = PinsOf(strengths, with_those_behind(clean));
  return clip;
}

void HoldSound(const std::vector<HeldPiece>& held, DenoiseState& state) {
  state.audio_pins = {};
  if (held.empty()) return;
  at::Tensor& sound = state.latents.audio;
  Strengths strengths(sound.size(1));
  at::Tensor clean = at::zeros_like(sound);
  for (const HeldPiece& piece : held) {
    const at::Tensor tokens = PackAudio(piece.values);
    clean.slice(1, piece.first, piece.first + tokens.size(1)).copy_(tokens);
    strengths.Set(piece.first, tokens.size(1), 1);
  }
  state.audio_pins = PinsOf(strengths, std::move(clean));
  state.audio_pins.exact = true;
  sound = state.audio_pins.Held(sound);
}

}  // namespace reel::model::ltx2
