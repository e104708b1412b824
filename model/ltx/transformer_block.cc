// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer_block.h"

#include <utility>

#include "model/bridge/row_ops.h"
#include "model/tokens/packed_rows.h"
#include "model/tokens/token_part.h"

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

// Of queries, keys and values [B, *, D] of a group's tokens: what they make of all tokens' values.
at::Tensor HeadsOfAll(const Ops& ops, const AttentionLayer& attention, const Projected& of,
                      TokenPart* part) {
  if (part == nullptr) return attention.Heads(ops, of.q, of.k, of.v, {});
  const TokenPart::KeysAndValues all = part->OfAll(of.k, of.v);
  return attention.Heads(ops, of.q, all.k, all.v, {});
}

// The same, but the last of the batch keeps its values, for which nobody else is asked.
at::Tensor PerturbedHeads(const Ops& ops, const AttentionLayer& attention, const Projected& of,
                          TokenPart* part) {
  const int64_t others = of.v.size(0) - 1;
  if (others == 0) return of.v.contiguous();
  const auto but_last = [&](const at::Tensor& t) { return t.slice(0, 0, others); };
  const at::Tensor heads =
      HeadsOfAll(ops, attention, {but_last(of.q), but_last(of.k), but_last(of.v)}, part);
  return at::cat({heads, of.v.slice(0, others)});
}

// What the tokens of a group say to each other, before the last projection.
at::Tensor OwnHeads(const Ops& ops, const AttentionLayer& attention, const Projected& own,
                    const TokenGroup& group) {
  return group.is_perturbed ? PerturbedHeads(ops, attention, own, group.part)
                            : HeadsOfAll(ops, attention, own, group.part);
}

// gelu(expand(x)), as `contract` takes it.
Rows Expanded(const Ops& ops, const Linear& expand, const Rows& x, RowForm form) {
  if (form == RowForm::kPlain) return {ops.LinearGelu(x.values, expand.weight, expand.bias)};
  if (form == RowForm::kE4m3 && expand.gelu.defined())
    return LinearGelu(ops, x.values, expand.gelu, expand.bias);
  return GeluTanh(ops, expand(ops, x), form);
}

}  // namespace

at::Tensor AttentionLayer::Query(const Ops& ops, const at::Tensor& x) const {
  return ops.RmsNorm(to_q(ops, InForm(ops, x, FormOf(ops.run()))), norm_q, kQueryKeyEps);
}

at::Tensor AttentionLayer::NormedKey(const Ops& ops, const at::Tensor& k) const {
  return ops.RmsNorm(k, norm_k, kQueryKeyEps);
}

at::Tensor AttentionLayer::Heads(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                                 const at::Tensor& v, const KeyMask& mask) const {
  const auto split = [this](const at::Tensor& t) {  // [B, *, D] to [B, N, *, Dh]
    return t.unflatten(2, {num_heads, -1}).transpose(1, 2);
  };
  const at::Tensor heads = of_text ? CrossAttention(ops, split(q), split(k), split(v), mask, 0)
                                   : Attention(ops, split(q), split(k), split(v), {}, 0);
  return heads.transpose(1, 2).flatten(2, 3);
}

at::Tensor TransformerBlock::AttendSelf(const Ops& ops, const BlockInput& input,
                                        const PackedRows& rows,
                                        const std::vector<TokenGroup>& groups,
                                        const BlockContext& context) const {
  const RowForm form = FormOf(ops.run());
  const at::Tensor& m = context.modulation;
  const Rows attended =
      input.normed.values.defined()
          ? input.normed
          : AdalnRmsNorm(ops, input.x, {m.select(2, 1), m.select(2, 0), eps, context.vector_of},
                         form);
  const std::vector<at::Tensor> qkv =
      self_attention.to_qkv(ops, attended).unflatten(2, {3, -1}).unbind(2);
  const auto [q, k] = ops.QkNormRope(qkv[0], self_attention.norm_q, qkv[1], self_attention.norm_k,
                                     kQueryKeyEps, context.rope);
  std::vector<at::Tensor> heads;
  for (size_t group = 0; group < groups.size(); ++group) {
    const auto of = [&](const at::Tensor& t) { return rows.Part(t, group); };
    heads.push_back(OwnHeads(ops, self_attention, {of(q), of(k), of(qkv[2])}, groups[group]));
  }
  const at::Tensor h = self_attention.to_out(ops, InForm(ops, rows.Together(heads), form));
  return ops.GateResidual(input.x, h, m.select(2, 2), context.vector_of);
}

// From the bare residual stream, without norm and gate.
std::vector<at::Tensor> TransformerBlock::Ask(const Ops& ops,
                                              const std::vector<TextQuestion>& questions) const {
  std::vector<at::Tensor> heads;
  for (const TextQuestion& asked : questions) {
    heads.push_back(text_attention.Heads(ops, asked.q, asked.keys.k, asked.keys.v, asked.mask));
  }
  const PackedRows rows(heads);
  const at::Tensor all =
      text_attention.to_out(ops, InForm(ops, rows.Together(heads), FormOf(ops.run())));
  std::vector<at::Tensor> answers;
  for (size_t i = 0; i < heads.size(); ++i) answers.push_back(rows.Part(all, i));
  return answers;
}

BlockInput TransformerBlock::Feed(const Ops& ops, const at::Tensor& x,
                                  const std::vector<at::Tensor>& answers,
                                  const BlockContext& context) const {
  const RowForm form = FormOf(ops.run());
  const bool fixed = form == RowForm::kE4m3 && expand.gelu.defined();
  const at::Tensor none;
  const Addend answer = {answers, none};
  const at::Tensor& m = context.modulation;
  const at::Tensor scale = m.select(2, 4), shift = m.select(2, 3), gate = m.select(2, 5);
  const Modulation before = {scale, shift, eps, context.vector_of};
  const SumAndRows asked = fixed ? SumAdalnRmsNorm(ops, x, answer, before, kE4m3GeluXScale)
                                 : SumAdalnRmsNorm(ops, x, answer, before, form);
  const at::Tensor fed = contract(ops, Expanded(ops, expand, asked.rows, form));
  if (!context.next.defined()) {
    return {ops.GateResidual(asked.sum, fed, gate, context.vector_of)};
  }
  const at::Tensor next_scale = context.next.select(2, 1), next_shift = context.next.select(2, 0);
  const SumAndRows made = SumAdalnRmsNorm(ops, asked.sum, {{fed}, gate},
                                          {next_scale, next_shift, eps, context.vector_of}, form);
  return {made.sum, made.rows};
}

void TransformerBlock::MakeLayersIn(RowForm form) {
  for (Linear* layer : {&self_attention.to_qkv, &self_attention.to_out, &text_attention.to_q,
                        &text_attention.to_out, &contract}) {
    form == RowForm::kInt8 ? layer->MakeInt8() : layer->MakeE4m3();
  }
  if (form == RowForm::kInt8) return expand.MakeInt8();
  // The one pass is for models in bf16; others have it for tests. In fp16 more passes would cost
  // what it saves.
  if (expand.weight.scalar_type() == at::kHalf) {
    expand.MakeE4m3();
  } else {
    expand.MakeE4m3Gelu();
  }
}

TransformerBlock TakeTransformerBlock(Weights& weights, int64_t index,
                                      const TransformerConfig& config) {
  const std::string name = NameOfBlock(index);
  const int64_t width = config.width();
  TransformerBlock block;
  block.eps = config.norm_eps;
  block.self_attention = TakeAttention(weights, name + ".attn1", false, config);
  block.text_attention = TakeAttention(weights, name + ".attn2", true, config);
  block.expand = TakeLinear(weights, name + ".ff.net.0.proj", width, 4 * width);
  block.contract = TakeLinear(weights, name + ".ff.net.2", 4 * width, width);
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
