// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/attention_layer.h"

#include <vector>

#include "model/bridge/attention_ops.h"
#include "model/bridge/row_ops.h"

namespace reel::model::ltx2 {
namespace {

constexpr double kQueryKeyEps = 1e-6;

// layer(x); codes are made of plain rows where the layer takes such.
at::Tensor Project(const Ops& ops, const Linear& layer, const Rows& x) {
  const RowForm form = layer.FormIn(ops);
  const bool fits = x.scale.defined() || form == RowForm::kPlain;
  return layer(ops, fits ? x : InForm(ops, x.values, form));
}

}  // namespace

// Normed and turned, with the keys and values of all ranks, in heads [B, *, N, Dh].
AttentionLayer::Projected AttentionLayer::Placed(const Ops& ops, const Projected& of,
                                                 const Tables& tables,
                                                 const RankTokens& ranks) const {
  at::Tensor q, k, v = of.v;
  if (tables.queries != nullptr && tables.queries == tables.keys) {
    const auto both = ops.QkNormRope(of.q, norm_q, of.k, norm_k, kQueryKeyEps, *tables.queries);
    q = both.q;
    k = both.k;
  } else {
    const auto placed = [&](const at::Tensor& x, const at::Tensor& norm, const RopeTable* table) {
      return table == nullptr ? ops.RmsNorm(x, norm, kQueryKeyEps)
                              : ops.NormRope(x, norm, kQueryKeyEps, *table);
    };
    q = placed(of.q, norm_q, tables.queries);
    k = placed(of.k, norm_k, tables.keys);
  }
  if (ranks.is_divided()) {
    const auto all = ranks.OfAllByCopies(k, v);
    k = all.k;
    v = all.v;
  }
  const auto split = [this](const at::Tensor& t) { return t.unflatten(2, {num_heads, -1}); };
  return {split(q), split(k), split(v)};
}

at::Tensor AttentionLayer::HeadsOfSelf(const Ops& ops, const Projected& of, const RopeTable& table,
                                       const std::vector<QueryBias>& bias,
                                       const RankTokens& ranks) const {
  const Projected placed = Placed(ops, of, {&table, &table}, ranks);
  const auto attend = [&](const at::Tensor& q, const at::Tensor& by) {
    return allows_8_bits ? Attention(ops, q, placed.k, placed.v, by, 0)
                         : AttentionNotIn8Bits(ops, q, placed.k, placed.v, by, 0);
  };
  if (bias.empty()) return attend(placed.q, {}).flatten(2, 3);
  std::vector<at::Tensor> parts;
  for (const QueryBias& by : bias) {
    parts.push_back(attend(placed.q.narrow(1, by.first, by.count), by.bias));
  }
  return (parts.size() == 1 ? parts[0] : at::cat(parts, 1)).flatten(2, 3);
}

at::Tensor AttentionLayer::HeadsOfContext(const Ops& ops, const Projected& of,
                                          const AttentionContext& context) const {
  const auto [q, k, v] = Placed(ops, of, context.tables, context.ranks);
  return CrossAttention(ops, q, k, v, {context.bias, {}}, 0).flatten(2, 3);
}

RowNeeds AttentionLayer::QueryForm(const Ops& ops) const {
  const RowNeeds needs = (is_self() ? to_qkv : to_q).NeedsIn(ops);
  const bool suits_gates = !to_gates.defined() || to_gates.FormIn(ops) == needs.form;
  return suits_gates ? needs : RowNeeds(RowForm::kPlain, needs.room);
}

at::Tensor AttentionLayer::Out(const Ops& ops, const at::Tensor& heads, const Rows& x) const {
  if (!to_gates.defined()) return Project(ops, to_out, {heads});
  const at::Tensor logits = Project(ops, to_gates, x);
  return to_out(ops, HeadGate(ops, heads, logits, to_out.NeedsIn(ops)));
}

at::Tensor AttentionLayer::OfSelf(const Ops& ops, const Rows& x, const RopeTable& table,
                                  const std::vector<QueryBias>& bias,
                                  const RankTokens& ranks) const {
  const std::vector<at::Tensor> qkv = Project(ops, to_qkv, x).chunk(3, -1);
  return Out(ops, HeadsOfSelf(ops, {qkv[0], qkv[1], qkv[2]}, table, bias, ranks), x);
}

at::Tensor AttentionLayer::OfContext(const Ops& ops, const Rows& x,
                                     const AttentionContext& context) const {
  const std::vector<at::Tensor> kv = Project(ops, to_kv, context.rows).chunk(2, -1);
  const Projected of = {Project(ops, to_q, x), kv[0], kv[1]};
  return Out(ops, HeadsOfContext(ops, of, context), x);
}

at::Tensor AttentionLayer::OfValues(const Ops& ops, const Rows& x) const {
  const int64_t first = 2 * norm_q.size(0);  // behind queries and keys
  return Out(ops, Project(ops, OutputsFrom(to_qkv, first), x), x);
}

void AttentionLayer::MakeQueryLayersIn(RowForm form) {
  Linear& queries = is_self() ? to_qkv : to_q;
  for (Linear* layer : {&queries, &to_out}) {
    if (layer->Takes(form)) layer->MakeIn(form);
  }
  // Of the queries' rows.
  const bool has_gates = to_gates.defined();
  if (has_gates && queries.Takes(form) && to_gates.Takes(form)) to_gates.MakeIn(form);
}

void AttentionLayer::MakeContextLayerIn(RowForm form) {
  if (to_kv.Takes(form)) to_kv.MakeIn(form);
}

void VisitTensors(AttentionLayer& layer, const TensorVisitor& visit) {
  for (Linear* linear :
       {&layer.to_qkv, &layer.to_q, &layer.to_kv, &layer.to_out, &layer.to_gates}) {
    VisitTensors(*linear, visit);
  }
  VisitIfDefined(layer.norm_q, visit);
  VisitIfDefined(layer.norm_k, visit);
}

AttentionLayer TakeAttention(Weights& weights, const std::string& name,
                             const AttentionSizes& sizes) {
  const int64_t inner = sizes.num_heads * sizes.head_dim;
  const std::string q = name + ".to_q", k = name + ".to_k", v = name + ".to_v";
  AttentionLayer layer;
  layer.num_heads = sizes.num_heads;
  if (sizes.is_self) {
    layer.to_qkv = TakeLinears(weights, {q, k, v}, sizes.width, inner);
  } else {
    layer.to_q = TakeLinear(weights, q, sizes.width, inner);
    layer.to_kv = TakeLinears(weights, {k, v}, sizes.context_width, inner);
  }
  layer.to_out = TakeLinear(weights, name + ".to_out.0", inner, sizes.width);
  if (sizes.has_gates) {
    layer.to_gates = TakeLinear(weights, name + ".to_gate_logits", sizes.width, sizes.num_heads);
  }
  layer.norm_q = weights.Take(name + ".norm_q.weight", {inner});
  layer.norm_k = weights.Take(name + ".norm_k.weight", {inner});
  return layer;
}

}  // namespace reel::model::ltx2
