// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/stream_block.h"

#include <vector>

namespace reel::model::ltx2 {
namespace {

// A table [rows, D] and what times make [B, T, rows, D] of each row, [B, T, D].
std::vector<at::Tensor> Summed(const at::Tensor& table, const at::Tensor& rows) {
  return (rows + table).unbind(2);
}

// text * (1 + scale) + shift in one pass: a gated sum onto the shift, which each token has. Rows
// may share their vectors.
at::Tensor Modulated(const Ops& ops, const at::Tensor& text, const StreamVectors::ScaleShift& by) {
  const at::Tensor gate = (1 + by.scale).expand({text.size(0), -1, -1});
  return ops.GateResidual(by.shift.expand_as(text), text, gate);
}

}  // namespace

// Tables begin with the shift, but those between the streams with the scale.
StreamVectors StreamBlock::VectorsOf(const StreamModulation& modulation) const {
  StreamVectors vectors;
  vectors.vector_of = modulation.vector_of;
  vectors.cross_vector_of = modulation.cross_vector_of;
  const std::vector<at::Tensor> rows = Summed(table, modulation.rows);
  vectors.self = {.scale = rows[1], .shift = rows[0]};
  vectors.self_gate = rows[2];
  vectors.feed = {.scale = rows[4], .shift = rows[3]};
  vectors.feed_gate = rows[5];
  if (text_table.defined()) {
    vectors.query = {.scale = rows[7], .shift = rows[6]};
    vectors.query_gate = rows[8];
    const std::vector<at::Tensor> text = modulation.text_rows.defined()
                                             ? Summed(text_table, modulation.text_rows)
                                             : text_table.unsqueeze(0).unsqueeze(0).unbind(2);
    vectors.text = {.scale = text[1], .shift = text[0]};
  }
  const std::vector<at::Tensor> cross = Summed(cross_table.slice(0, 0, 4), modulation.cross_rows);
  const StreamVectors::ScaleShift to_video = {cross[0], cross[1]}, to_audio = {cross[2], cross[3]};
  const bool is_video = stream == Stream::kVideo;
  vectors.cross_query = is_video ? to_video : to_audio;
  vectors.cross_keys = is_video ? to_audio : to_video;
  vectors.cross_gate = Summed(cross_table.slice(0, 4), modulation.cross_gate)[0];
  return vectors;
}

StreamBlock::NormFor StreamBlock::ForCross(const Ops& ops, const StreamVectors& vectors) const {
  return {vectors.cross_query, vectors.cross_vector_of, cross_attention.QueryForm(ops)};
}

StreamBlock::NormFor StreamBlock::ForFeed(const Ops& ops, const StreamVectors& vectors) const {
  return {vectors.feed, vectors.vector_of, feed_forward.expand.NeedsIn(ops)};
}

SumAndRows StreamBlock::Add(const Ops& ops, const at::Tensor& x, const at::Tensor& y,
                            const Gate& gate, const NormFor& next) const {
  if (!gate.vectors.defined() || gate.vector_of.is_same(next.vector_of)) {
    return SumAdalnRmsNorm(ops, x, {{y}, gate.vectors},
                           {next.by.scale, next.by.shift, eps, next.vector_of}, next.needs);
  }
  const at::Tensor sum = ops.GateResidual(x, y, gate.vectors, gate.vector_of);
  return {sum, Norm(ops, sum, next.by, next.vector_of, next.needs)};
}

SumAndRows StreamBlock::AddSelfAttention(const Ops& ops, const at::Tensor& x,
                                         const StreamVectors& vectors, const StreamCall& call,
                                         bool is_perturbed) const {
  const Rows normed = Norm(ops, x, vectors.self, vectors.vector_of, self_attention.QueryForm(ops));
  const at::Tensor attended = is_perturbed ? self_attention.OfValues(ops, normed)
                                           : self_attention.OfSelf(ops, normed, call.tables.own,
                                                                   call.self_bias, call.ranks);
  const Gate gate = {vectors.self_gate, vectors.vector_of};
  if (text_table.defined()) {
    return Add(ops, x, attended, gate,
               {vectors.query, vectors.vector_of, text_attention.QueryForm(ops)});
  }
  const at::Tensor sum = ops.GateResidual(x, attended, gate.vectors, gate.vector_of);
  return {sum, {Norm(ops, sum)}};
}

SumAndRows StreamBlock::AddTextAttention(const Ops& ops, const SumAndRows& x,
                                         const StreamVectors& vectors, const TextContext& text,
                                         const NormFor& next) const {
  const Rows tokens = {text_table.defined() ? Modulated(ops, text.tokens, vectors.text)
                                            : text.tokens};
  const at::Tensor attended =
      text_attention.OfContext(ops, x.rows, {.rows = tokens, .bias = text.bias});
  return Add(ops, x.sum, attended, {vectors.query_gate, vectors.vector_of}, next);
}

SumAndRows StreamBlock::AddCrossAttention(const Ops& ops, const SumAndRows& x,
                                          const StreamVectors& vectors,
                                          const AttentionContext& context) const {
  const at::Tensor attended = cross_attention.OfContext(ops, x.rows, context);
  return Add(ops, x.sum, attended, {vectors.cross_gate, vectors.cross_vector_of},
             ForFeed(ops, vectors));
}

at::Tensor StreamBlock::AddFeedForward(const Ops& ops, const SumAndRows& x,
                                       const StreamVectors& vectors) const {
  return ops.GateResidual(x.sum, feed_forward(ops, x.rows), vectors.feed_gate, vectors.vector_of);
}

void VisitTensors(StreamBlock& block, const TensorVisitor& visit) {
  VisitTensors(block.self_attention, visit);
  VisitTensors(block.text_attention, visit);
  VisitTensors(block.cross_attention, visit);
  VisitTensors(block.feed_forward, visit);
  VisitIfDefined(block.table, visit);
  VisitIfDefined(block.text_table, visit);
  VisitIfDefined(block.cross_table, visit);
}

StreamBlock TakeStreamBlock(Weights& weights, const std::string& block,
                            const TransformerConfig& config, Stream stream) {
  const bool is_video = stream == Stream::kVideo;
  const StreamConfig& own = is_video ? config.video : config.audio;
  const StreamConfig& other = is_video ? config.audio : config.video;
  const std::string prefix = block + "." + PrefixOf(stream);
  const AttentionSizes self = {.width = own.width(),
                               .context_width = own.width(),
                               .num_heads = own.num_heads,
                               .head_dim = own.head_dim,
                               .has_gates = own.has_gates,
                               .is_self = true};
  AttentionSizes text = self, cross = self;
  text.is_self = cross.is_self = false;
  cross.context_width = other.width();
  cross.head_dim = config.audio.head_dim;
  StreamBlock half;
  half.stream = stream;
  half.eps = config.norm_eps;
  half.self_attention = TakeAttention(weights, prefix + "attn1", self);
  half.text_attention = TakeAttention(weights, prefix + "attn2", text);
  half.cross_attention = TakeAttention(
      weights, block + (is_video ? ".audio_to_video_attn" : ".video_to_audio_attn"), cross);
  half.feed_forward = TakeFeedForward(weights, prefix + "ff", own.width(), own.has_ff_bias);
  half.table =
      weights.Take(prefix + "scale_shift_table", {config.modulates_text ? 9 : 6, own.width()});
  if (config.modulates_text) {
    half.text_table = weights.Take(prefix + "prompt_scale_shift_table", {2, own.width()});
  }
  half.cross_table =
      weights.Take(block + (is_video ? ".video" : ".audio") + "_a2v_cross_attn_scale_shift_table",
                   {5, own.width()});
  return half;
}

}  // namespace reel::model::ltx2
