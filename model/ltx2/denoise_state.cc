// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/denoise_state.h"

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

DenoiseState BeginTextToVideo(const Ops& ops, const Transformer& transformer, const Texts& texts,
                              const LatentSizes& sizes, double frame_rate,
                              at::Generator& generator) {
  const TransformerConfig& config = transformer.config();
  const at::Device device = texts.video.device();
  DenoiseState state;
  state.latents = DrawNoise(sizes, generator, device);
  state.texts = Prepare(ops, transformer, texts);
  state.prompt = PromptOf(state.texts);
  state.video_tables =
      MakeVideoTables(config, VideoPlaces(config, sizes.video, frame_rate)).To(device);
  state.audio_tables = MakeAudioTables(config, AudioPlaces(config, sizes.audio)).To(device);
  return state;
}

}  // namespace reel::model::ltx2
