// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoise_state.h"

#include <utility>

namespace reel::model::ltx2 {
namespace {

TextContext LastRow(const TextContext& text) {
  const auto last = [](const at::Tensor& t) {
    return t.defined() ? t.slice(0, t.size(0) - 1) : at::Tensor();
  };
  return {last(text.tokens), last(text.bias)};
}

}  // namespace

PreparedTexts PromptOf(const PreparedTexts& texts) {
  return {LastRow(texts.video), LastRow(texts.audio)};
}

PreparedTexts Prepare(const Ops& ops, const Transformer& transformer, const Texts& texts) {
  return {transformer.Prepare(ops, Stream::kVideo, texts.video),
          transformer.Prepare(ops, Stream::kAudio, texts.audio)};
}

bool CanShareStep(const DenoiseState& a, const DenoiseState& b) {
  const auto are_alike = [](const TextContext& one, const TextContext& other) {
    return one.tokens.size(1) == other.tokens.size(1) && one.bias.defined() == other.bias.defined();
  };
  return a.sampler != Sampler::kRes2s && b.sampler != Sampler::kRes2s && a.references.is_full() &&
         b.references.is_full() && a.guidance.perturbed_blocks == b.guidance.perturbed_blocks &&
         a.keyframe_tokens == b.keyframe_tokens &&
         a.latents.video.sizes() == b.latents.video.sizes() &&
         a.latents.audio.sizes() == b.latents.audio.sizes() &&
         are_alike(a.texts.video, b.texts.video) && are_alike(a.texts.audio, b.texts.audio) &&
         a.places.equal(b.places);
}

DenoiseState StateOf(const Ops& ops, const Transformer& transformer, const Texts& texts,
                     StreamTokens latents, const at::Tensor& places) {
  const TransformerConfig& config = transformer.config();
  const at::Device device = texts.video.device();
  DenoiseState state;
  state.texts = Prepare(ops, transformer, texts);
  state.prompt = PromptOf(state.texts);
  state.video_tables = MakeVideoTables(config, places).To(device);
  state.audio_tables =
      MakeAudioTables(config, AudioPlaces(config, latents.audio.size(1))).To(device);
  state.places = places;
  state.latents = std::move(latents);
  return state;
}

DenoiseState BeginTextToVideo(const Ops& ops, const Transformer& transformer, const Texts& texts,
                              const LatentSizes& sizes, double frame_rate,
                              at::Generator& generator) {
  return StateOf(ops, transformer, texts, DrawNoise(sizes, generator, texts.video.device()),
                 VideoPlaces(transformer.config(), sizes.video, frame_rate));
}

}  // namespace reel::model::ltx2
