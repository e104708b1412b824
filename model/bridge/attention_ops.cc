// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/attention_ops.h"

#include "kernels/attention/attention.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {

using kernels::OptionalViewOf;
using kernels::ViewOf;

namespace {

struct Operands {
  const at::Tensor &q, &k, &v;
};

at::Tensor Attend(const Ops& ops, std::string_view op, const Operands& of, const KeyMask& mask,
                  double scale) {
  const auto& [q, k, v] = of;
  at::Tensor out;
  aten::AttentionCall::KeysMet met;
  if (ops.ByLibtorch(aten::AttentionCall{op, q, k, v, mask.bias, scale, out, &met})) {
    if (met.count == 0) return out;
    return AttentionRest(ops, q, k.slice(2, met.count), v.slice(2, met.count), {out, met.log_sums},
                         scale);
  }
  // [B, N, S, Dh] as the kernels see it, [B, S, N, Dh]: the same memory.
  out = at::empty_like(q);
  const kernels::AttentionArgs args = {
      .q = ViewOf(q.transpose(1, 2)),
      .k = ViewOf(k.transpose(1, 2)),
      .v = ViewOf(v.transpose(1, 2)),
      .bias = OptionalViewOf(mask.lengths.defined() ? at::Tensor() : mask.bias),
      .key_lengths = OptionalViewOf(mask.lengths),
      .q_scale = {},
      .out = ViewOf(out.transpose(1, 2)),
      .scale = scale};
  ThrowIfError(op == "attention" ? kernels::Attention(args, ops.run())
                                 : kernels::CrossAttention(args, ops.run()));
  return out;
}

}  // namespace

at::Tensor Attention(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& bias, double scale) {
  return Attend(ops, "attention", {q, k, v}, {bias, {}}, scale);
}

at::Tensor AttentionRest(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const Attended& before, double scale) {
  at::Tensor out;
  if (ops.ByLibtorch(aten::AttentionRestCall{q, k, v, before.out, before.log_sums, scale, out}))
    return out;
  out = at::empty_like(q);
  ThrowIfError(kernels::AttentionRest({.q = ViewOf(q.transpose(1, 2)),
                                       .k = ViewOf(k.transpose(1, 2)),
                                       .v = ViewOf(v.transpose(1, 2)),
                                       .before = ViewOf(before.out.transpose(1, 2)),
                                       .log_sums = ViewOf(before.log_sums.transpose(1, 2)),
                                       .out = ViewOf(out.transpose(1, 2)),
                                       .scale = scale},
                                      ops.run()));
  return out;
}

at::Tensor CrossAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const KeyMask& mask, double scale) {
  const bool fits = kernels::FitsCrossAttention(k.size(2), q.size(3));
  return Attend(ops, fits ? "cross_attention" : "attention", {q, k, v}, mask, scale);
}

}  // namespace reel::model
