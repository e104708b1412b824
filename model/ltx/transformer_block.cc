// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer_block.h"

#include <utility>

#include "model/bridge/attention_ops.h"

namespace reel::model::ltx {
namespace {

constexpr double kQueryKeyEps = 1e-5;

struct Projected {
  at::Tensor q, k, v;
};

std::string NameOfBlock(int64_t index) { return "transformer_blocks." + std::to_string(index); }

AttentionLayer TakeAttention(Weights& weights, const std::string& name, bool of_text,
                             const TransformerConfig& config) {
  const int64_t width = config.width();
  const bool bias = config.attention_bias;
  AttentionLayer layer;
  layer.num_heads = config.num_heads;
  layer.of_text = of_text;
  if (of_text) {
    layer.to_q = TakeLinear(weights, name + ".to_q", width, width, bias);
  } else {
    layer.to_qkv =
        TakeLinears(weights, {name + ".to_q", name + ".to_k", name + ".to_v"}, width, width, bias);
  }
  layer.to_out = TakeLinear(weights, name + ".to_out.0", width, width, config.attention_out_bias);
  layer.norm_q = weights.Take(name + ".norm_q.weight", {width});
  layer.norm_k = weights.Take(name + ".norm_k.weight", {width});
  return layer;
}

// Self-attention of a group, before the last projection.
at::Tensor HeadsOf(const Ops& ops, const AttentionLayer& attention, const Projected& own,
                   size_t group, BlockCall& call) {
  const auto [k, v] = call.layout().OfAllRanks({own.k, own.v}, group, call.exchanges);
  return attention.Heads(ops, own.q, k, v, {});
}

// The same, but the last row keeps its values, for which no other token is needed.
at::Tensor PerturbedHeadsOf(const Ops& ops, const AttentionLayer& attention, const Projected& own,
                            size_t group, BlockCall& call) {
  const int64_t others = own.v.size(0) - 1;
  if (others == 0) return own.v.contiguous();
  const auto but_last = [&](const at::Tensor& t) { return t.slice(0, 0, others); };
  const Projected of_others = {but_last(own.q), but_last(own.k), but_last(own.v)};
  return at::cat({HeadsOf(ops, attention, of_others, group, call), own.v.slice(0, others)});
}

// attention(x), in which the tokens of each group look at each other.
at::Tensor SelfAttention(const Ops& ops, const AttentionLayer& attention, const Rows& x,
                         bool is_perturbed, BlockCall& call) {
  const Ops of_rows = call.ForRows(ops);
  const std::vector<at::Tensor> qkv = attention.to_qkv(of_rows, x).unflatten(2, {3, -1}).unbind(2);
  const auto [q, k] =
      ops.QkNormRope(qkv[0], attention.norm_q, qkv[1], attention.norm_k, kQueryKeyEps, call.rope());
  const auto heads_of = is_perturbed ? PerturbedHeadsOf : HeadsOf;
  const TokenLayout& layout = call.layout();
  std::vector<at::Tensor> heads;
  for (size_t group = 0; group < layout.groups(); ++group) {
    const Projected own = {layout.Group(q, group), layout.Group(k, group),
                           layout.Group(qkv[2], group)};
    heads.push_back(heads_of(ops, attention, own, group, call));
  }
  const RowForm form = attention.to_out.FormIn(of_rows);
  return attention.to_out(of_rows, InForm(ops, TokenLayout::Join(heads), form));
}

// text_attention(x) of all rows, in parts of neighbours: from the bare residual stream, without
// norm or gate. Only rows that ask are computed.
std::vector<at::Tensor> TextAttention(const Ops& ops, const AttentionLayer& attention,
                                      const at::Tensor& x, size_t block, const BlockCall& call) {
  const TokenLayout& layout = call.layout();
  std::vector<at::Tensor> heads, known;
  at::Tensor queries = layout.AskingRows(x);
  if (queries.defined()) queries = attention.Query(call.ForQueries(ops), queries);
  for (size_t group = 0; group < layout.groups(); ++group) {
    const TextContext& text = call.text(group);
    const TextKeys keys = text.KeysOf(block);
    known.push_back(keys.only);
    if (!layout.asks(group)) continue;
    const at::Tensor q = layout.Questions(queries, group);
    heads.push_back(attention.Heads(ops, q, keys.k, keys.v, text.mask));
  }
  if (heads.empty()) return layout.Answers({}, known);
  const Ops asking = call.ForQuestions(ops);
  const Rows joined = InForm(ops, TokenLayout::Join(heads), attention.to_out.FormIn(asking));
  return layout.Answers(attention.to_out(asking, joined), known);
}

}  // namespace

at::Tensor AttentionLayer::Query(const Ops& ops, const at::Tensor& x) const {
  return ops.RmsNorm(to_q(ops, InForm(ops, x, to_q.FormIn(ops))), norm_q, kQueryKeyEps);
}

at::Tensor AttentionLayer::NormedKey(const Ops& ops, const at::Tensor& k) const {
  return ops.RmsNorm(k, norm_k, kQueryKeyEps);
}

at::Tensor AttentionLayer::Heads(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                                 const at::Tensor& v, const KeyMask& mask) const {
  const auto split = [this](const at::Tensor& t) {  // [B, *, D] to [B, *, N, Dh]
    return t.unflatten(2, {num_heads, -1});
  };
  const at::Tensor heads = of_text ? CrossAttention(ops, split(q), split(k), split(v), mask, 0)
                                   : Attention(ops, split(q), split(k), split(v), {}, 0);
  return heads.flatten(2, 3);
}

BlockTokens TransformerBlock::operator()(const Ops& ops, const BlockTokens& tokens,
                                         const BlockPosition& at, BlockCall& call) const {
  using enum BlockVector;
  const auto vector = [&](BlockVector which) { return call.VectorOf(at.index, which); };
  const auto of_next = [&](BlockVector which) { return call.VectorOf(at.index + 1, which); };
  const at::Tensor none;

  const RowNeeds needs = self_attention.to_qkv.NeedsIn(call.ForRows(ops));  // as of all blocks

  // x = x + gate * attention(norm(x) * (1 + scale) + shift)
  const Rows normed =
      tokens.normed.values.defined()
          ? tokens.normed
          : AdalnRmsNorm(ops, tokens.x, {vector(kScale), vector(kShift), eps, call.time_of()},
                         needs);
  const at::Tensor attended = SelfAttention(ops, self_attention, normed, at.is_perturbed, call);
  at::Tensor x = ops.GateResidual(tokens.x, attended, vector(kGate), call.time_of());

  // x = x + text_attention(x), and in the same pass the norm of that sum.
  const std::vector<at::Tensor> answers = TextAttention(ops, text_attention, x, at.index, call);
  x = call.SplitByText(x);
  const Ops of_rows = call.ForRows(ops);
  const auto [sum, to_feed] = SumAdalnRmsNorm(
      ops, x, {answers, none}, {vector(kFeedScale), vector(kFeedShift), eps, call.time_of()},
      feed_forward.expand.NeedsIn(of_rows));

  // x = x + gate * feed_forward(norm(x) * (1 + scale) + shift)
  const at::Tensor fed = feed_forward(of_rows, to_feed);
  if (!at.goes_on) return {ops.GateResidual(sum, fed, vector(kFeedGate), call.time_of())};
  // And in the same pass the norm that the next block begins with.
  const SumAndRows made =
      SumAdalnRmsNorm(ops, sum, {{fed}, vector(kFeedGate)},
                      {of_next(kScale), of_next(kShift), eps, call.time_of()}, needs);
  return {made.sum, made.rows};
}

void TransformerBlock::MakeLayersIn(RowForm form) {
  for (Linear* layer : {&self_attention.to_qkv, &self_attention.to_out, &text_attention.to_q,
                        &text_attention.to_out}) {
    layer->MakeIn(form);
  }
  feed_forward.MakeLayersIn(form);
}

void VisitTensors(TransformerBlock& block, const TensorVisitor& visit) {
  for (Linear* layer : {&block.self_attention.to_qkv, &block.self_attention.to_out,
                        &block.text_attention.to_q, &block.text_attention.to_out}) {
    VisitTensors(*layer, visit);
  }
  VisitIfDefined(block.self_attention.norm_q, visit);
  VisitIfDefined(block.self_attention.norm_k, visit);
  VisitIfDefined(block.text_attention.norm_q, visit);
  VisitTensors(block.feed_forward, visit);
}

TransformerBlock TakeTransformerBlock(Weights& weights, int64_t index,
                                      const TransformerConfig& config) {
  const std::string name = NameOfBlock(index);
  const int64_t width = config.width();
  TransformerBlock block;
  block.eps = config.norm_eps;
  block.self_attention = TakeAttention(weights, name + ".attn1", false, config);
  block.text_attention = TakeAttention(weights, name + ".attn2", true, config);
  block.feed_forward = TakeFeedForward(weights, name + ".ff", width);
  block.scale_shift_table = weights.Take(name + ".scale_shift_table", {6, width});
  return block;
}

Linear TakeTextKeysAndValues(Weights& weights, const TransformerConfig& config) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < config.num_layers; ++i) {
    for (const char* const layer : {".attn2.to_k", ".attn2.to_v"}) {
      names.push_back(NameOfBlock(i) + layer);
    }
  }
  return TakeLinears(weights, names, config.width(), config.width(), config.attention_bias);
}

}  // namespace reel::model::ltx
