// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer_block.h"

#include "model/bridge/row_ops.h"

namespace reel::model::ltx {
namespace {

constexpr double kQueryKeyEps = 1e-5;

AttentionLayer TakeAttention(Weights& weights, const std::string& name, bool of_text,
                             const TransformerConfig& config) {
  const int64_t width = config.width();
  const bool bias = config.attention_bias;
  const std::vector<std::string> names = {name + ".to_q", name + ".to_k", name + ".to_v"};
  AttentionLayer layer;
  layer.num_heads = config.num_heads;
  layer.of_text = of_text;
  if (of_text) {
    layer.to_q = TakeLinear(weights, names[0], width, width, bias);
    layer.to_k = TakeLinear(weights, names[1], width, width, bias);
    layer.to_v = TakeLinear(weights, names[2], width, width, bias);
  } else {
    layer.to_qkv = TakeLinears(weights, names, width, width, bias);
  }
  layer.to_out = TakeLinear(weights, name + ".to_out.0", width, width, config.attention_out_bias);
  layer.norm_q = weights.Take(name + ".norm_q.weight", {width});
  layer.norm_k = weights.Take(name + ".norm_k.weight", {width});
  return layer;
}

// As Heads, but the last of the batch keeps its values.
at::Tensor PerturbedHeads(const Ops& ops, const AttentionLayer& attention, const at::Tensor& q,
                          const at::Tensor& k, const at::Tensor& v) {
  if (v.size(0) == 1) return v.contiguous();
  const auto but_last = [](const at::Tensor& t) { return t.slice(0, 0, t.size(0) - 1); };
  const at::Tensor heads = attention.Heads(ops, but_last(q), but_last(k), but_last(v), {});
  return at::cat({heads, v.slice(0, v.size(0) - 1)});
}

// gelu(expand(x)), as `contract` takes it.
Rows Expanded(const Ops& ops, const Linear& expand, const Rows& x, RowForm form) {
  if (form == RowForm::kPlain) return {ops.LinearGelu(x.values, expand.weight, expand.bias)};
  if (expand.gelu.defined()) return LinearGelu(ops, x.values, expand.gelu, expand.bias);
  return GeluTanh(ops, expand(ops, x), form);
}

}  // namespace

at::Tensor AttentionLayer::Query(const Ops& ops, const at::Tensor& x) const {
  return ops.RmsNorm(to_q(ops, InForm(ops, x, FormOf(ops.run()))), norm_q, kQueryKeyEps);
}

at::Tensor AttentionLayer::Key(const Ops& ops, const at::Tensor& x) const {
  return ops.RmsNorm(to_k(ops, x), norm_k, kQueryKeyEps);
}

at::Tensor AttentionLayer::Heads(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                                 const at::Tensor& v, const KeyMask& mask) const {
  const auto split = [this](const at::Tensor& t) {  // [B, *, D] to [B, N, *, Dh]
    return t.unflatten(2, {num_heads, -1}).transpose(1, 2);
  };
  const at::Tensor heads = of_text ? ops.CrossAttention(split(q), split(k), split(v), mask, 0)
                                   : ops.Attention(split(q), split(k), split(v), {}, 0);
  return heads.transpose(1, 2).flatten(2, 3);
}

TextKeys TransformerBlock::KeysOf(const Ops& ops, const at::Tensor& asked,
                                  const at::Tensor& known) const {
  TextKeys keys{text_attention.Key(ops, asked), text_attention.to_v(ops, asked), {}};
  if (known.size(0) > 0) {
    keys.only = text_attention.to_out(ops, text_attention.to_v(ops, known));
  }
  return keys;
}

at::Tensor TransformerBlock::AttendSelf(const Ops& ops, const BlockInput& input,
                                        const at::Tensor& modulation,
                                        const BlockContext& context) const {
  const std::vector<at::Tensor> rows = modulation.unbind(2);
  const RowForm form = FormOf(ops.run());
  const Rows attended = input.normed.values.defined()
                            ? input.normed
                            : AdalnRmsNorm(ops, input.x, {rows[1], rows[0], eps}, form);
  const std::vector<at::Tensor> qkv =
      self_attention.to_qkv(ops, attended).unflatten(2, {3, -1}).unbind(2);
  const auto [q, k] = ops.QkNormRope(qkv[0], self_attention.norm_q, qkv[1], self_attention.norm_k,
                                     kQueryKeyEps, context.rope);
  const at::Tensor& v = qkv[2];
  at::Tensor h = context.is_perturbed ? PerturbedHeads(ops, self_attention, q, k, v)
                                      : self_attention.Heads(ops, q, k, v, {});
  h = self_attention.to_out(ops, InForm(ops, h, form));
  return ops.GateResidual(input.x, h, rows[2]);
}

// From the bare residual stream, without norm and gate.
at::Tensor TransformerBlock::Ask(const Ops& ops, const at::Tensor& q, const TextKeys& text,
                                 const KeyMask& mask) const {
  const at::Tensor heads = text_attention.Heads(ops, q, text.k, text.v, mask);
  return text_attention.to_out(ops, InForm(ops, heads, FormOf(ops.run())));
}

BlockInput TransformerBlock::Feed(const Ops& ops, const at::Tensor& x,
                                  const std::vector<at::Tensor>& answers,
                                  const at::Tensor& modulation, const at::Tensor& next) const {
  const std::vector<at::Tensor> rows = modulation.unbind(2);
  const RowForm form = FormOf(ops.run());
  const at::Tensor none;
  const Addend answer = {answers, none};
  const Modulation before = {rows[4], rows[3], eps};
  const bool fixed = form == RowForm::kE4m3 && expand.gelu.defined();
  const SumAndRows asked = fixed ? SumAdalnRmsNorm(ops, x, answer, before, kE4m3GeluXScale)
                                 : SumAdalnRmsNorm(ops, x, answer, before, form);
  const at::Tensor fed = contract(ops, Expanded(ops, expand, asked.rows, form));
  if (!next.defined()) return {ops.GateResidual(asked.sum, fed, rows[5])};
  const std::vector<at::Tensor> behind = next.unbind(2);
  const auto [sum, normed] =
      SumAdalnRmsNorm(ops, asked.sum, {{fed}, rows[5]}, {behind[1], behind[0], eps}, form);
  return {sum, normed};
}

void TransformerBlock::MakeE4m3() {
  for (Linear* layer : {&self_attention.to_qkv, &self_attention.to_out, &text_attention.to_q,
                        &text_attention.to_out, &contract}) {
    layer->MakeE4m3();
  }
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
  const std::string name = "transformer_blocks." + std::to_string(index);
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

}  // namespace reel::model::ltx
