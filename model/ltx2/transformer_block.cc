// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/transformer_block.h"

#include <string>

namespace reel::model::ltx2 {

void TransformerBlock::MakeLayersIn(RowForm form) {
  for (AttentionLayer* attention :
       {&video.self_attention, &video.text_attention, &video.cross_attention}) {
    attention->MakeQueryLayersIn(form);
  }
  audio.cross_attention.MakeContextLayerIn(form);
  video.feed_forward.MakeLayersIn(form);
}

StreamTokens TransformerBlock::operator()(const Ops& ops, const StreamTokens& tokens,
                                          const BlockCall& call, bool is_perturbed) const {
  const StreamVectors of_video = video.VectorsOf(call.video.modulation);
  const StreamVectors of_audio = audio.VectorsOf(call.audio.modulation);

  // x = x + gate * self_attention(norm(x) * (1 + scale) + shift)
  SumAndRows x = video.AddSelfAttention(ops, tokens.video, of_video, call.video, is_perturbed);
  SumAndRows a = audio.AddSelfAttention(ops, tokens.audio, of_audio, call.audio, is_perturbed);

  // x = x + gate * text_attention(norm(x) * (1 + scale) + shift, text * (1 + scale) + shift)
  const auto behind_text = [&](const StreamBlock& stream, const StreamVectors& vectors) {
    return call.is_isolated ? stream.ForFeed(ops, vectors) : stream.ForCross(ops, vectors);
  };
  x = video.AddTextAttention(ops, x, of_video, call.video.text, behind_text(video, of_video));
  a = audio.AddTextAttention(ops, a, of_audio, call.audio.text, behind_text(audio, of_audio));

  // x = x + gate * cross_attention(norm(x) * (1 + scale) + shift, norm(a) * (1 + scale) + shift)
  if (!call.is_isolated) {
    // Of both streams before either changes.
    const Rows x_keys = video.Norm(ops, x.sum, of_video.cross_keys, of_video.cross_vector_of,
                                   audio.cross_attention.ContextForm(ops));
    const Rows a_keys = audio.Norm(ops, a.sum, of_audio.cross_keys, of_audio.cross_vector_of,
                                   video.cross_attention.ContextForm(ops));
    const RopeTable &video_table = call.video.tables.cross, &audio_table = call.audio.tables.cross;
    x = video.AddCrossAttention(
        ops, x, of_video,
        {.rows = a_keys, .tables = {&video_table, &audio_table}, .ranks = call.audio.ranks});
    a = audio.AddCrossAttention(
        ops, a, of_audio,
        {.rows = x_keys, .tables = {&audio_table, &video_table}, .ranks = call.video.ranks});
  }

  // x = x + gate * feed_forward(norm(x) * (1 + scale) + shift)
  return {video.AddFeedForward(ops, x, of_video), audio.AddFeedForward(ops, a, of_audio)};
}

void VisitTensors(TransformerBlock& block, const TensorVisitor& visit) {
  VisitTensors(block.video, visit);
  VisitTensors(block.audio, visit);
}

TransformerBlock TakeTransformerBlock(Weights& weights, int64_t index,
                                      const TransformerConfig& config) {
  const std::string name = "transformer_blocks." + std::to_string(index);
  return {TakeStreamBlock(weights, name, config, Stream::kVideo),
          TakeStreamBlock(weights, name, config, Stream::kAudio)};
}

}  // namespace reel::model::ltx2
