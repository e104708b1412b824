// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/attention_ops.h"

#include <ATen/ops/empty.h>

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/tile_layout.h"
#include "kernels/dispatch/kernel_plan.h"
#include "kernels/dispatch/kernel_profiles.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/attention_calls.h"
#include "model/bridge/torch_guard.h"

namespace reel::model {

using kernels::Execution;
using kernels::OptionalViewOf;
using kernels::ViewOf;

namespace {

struct Operands {
  const at::Tensor &q, &k, &v;
};

// At 640 keys a step is 1 to 2 % shorter in 8 bits (one H200); below there is nothing to gain.
constexpr int64_t kManyKeys = 512;
constexpr int64_t kVectorBytes = 16;

bool HasVectors(const at::Tensor& heads) {
  const auto bytes = static_cast<int64_t>(heads.element_size());
  for (int64_t d = 0; d < 3; ++d) {
    if (heads.stride(d) * bytes % kVectorBytes != 0) return false;
  }
  return heads.stride(3) == 1 && reinterpret_cast<uintptr_t>(heads.data_ptr()) % kVectorBytes == 0;
}

// What sm90_e4m3 and sm90_int8 take, of a request whose profile says that 8 bits will do; one that
// names a variant itself has that one.
bool In8Bits(const Ops& ops, const Operands& of, const at::Tensor& bias) {
  const kernels::KernelPlan& plan = ops.run().plan;
  const auto& [q, k, v] = of;
  const auto type = q.scalar_type();
  const bool will_do =
      kernels::HasE4m3Attention(plan.profile()) || kernels::HasInt8Attention(plan.profile());
  return will_do && plan.Choice("attention").empty() && q.is_cuda() &&
         (type == at::kBFloat16 || type == at::kHalf) && !bias.defined() &&
         kernels::HasKeyTiles(q.size(3)) && k.size(2) >= kManyKeys && HasVectors(q) &&
         HasVectors(k) && HasVectors(v);
}

// [B, N, S, Dh] as the kernels see it, [B, S, N, Dh]: the same memory.
kernels::AttentionArgs ArgsOf(const Operands& of, const at::Tensor& out, double scale) {
  return {.q = ViewOf(of.q.transpose(1, 2)),
          .k = ViewOf(of.k.transpose(1, 2)),
          .v = ViewOf(of.v.transpose(1, 2)),
          .bias = {},
          .key_lengths = {},
          .q_scale = {},
          .out = ViewOf(out.transpose(1, 2)),
          .scale = scale};
}

at::Tensor AttendIn8Bits(const Ops& ops, const Operands& of, double scale) {
  at::Tensor out = at::empty_like(of.q);
  kernels::AttentionArgs args = ArgsOf(of, out, scale);
  const at::Tensor scratch =
      at::empty({kernels::AttentionScratchBytes(args.k)}, of.q.options().dtype(at::kByte));
  args.scratch = ViewOf(scratch);
  args.int8_scores = kernels::HasInt8Attention(ops.run().plan.profile());
  ThrowIfError(kernels::Attention(args, ops.run()));
  return out;
}

at::Tensor Attend(const Ops& ops, std::string_view op, const Operands& of, const KeyMask& mask,
                  double scale) {
  const auto& [q, k, v] = of;
  at::Tensor out;
  aten::AttentionCall::KeysMet met;
  ops.Call(aten::AttentionCall{op, q, k, v, mask.bias, scale, out, &met},
           [&](const Execution& run) {
             out = at::empty_like(q);
             kernels::AttentionArgs args = ArgsOf(of, out, scale);
             args.bias = OptionalViewOf(mask.lengths.defined() ? at::Tensor() : mask.bias);
             args.key_lengths = OptionalViewOf(mask.lengths);
             return op == "attention" ? kernels::Attention(args, run)
                                      : kernels::CrossAttention(args, run);
           });
  if (met.count == 0) return out;
  return AttentionRest(ops, q, k.slice(2, met.count), v.slice(2, met.count), {out, met.log_sums},
                       scale);
}

}  // namespace

at::Tensor Attention(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& bias, double scale) {
  const Operands of = {q, k, v};
  if (In8Bits(ops, of, bias)) return AttendIn8Bits(ops, of, scale);
  return AttentionNotIn8Bits(ops, q, k, v, bias, scale);
}

at::Tensor AttentionNotIn8Bits(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const at::Tensor& bias, double scale) {
  return Attend(ops, "attention", {q, k, v}, {bias, {}}, scale);
}

at::Tensor AttentionRest(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const Attended& before, double scale) {
  at::Tensor out;
  ops.Call(aten::AttentionRestCall{q, k, v, before.out, before.log_sums, scale, out},
           [&](const Execution& run) {
             out = at::empty_like(q);
             return kernels::AttentionRest({.q = ViewOf(q.transpose(1, 2)),
                                            .k = ViewOf(k.transpose(1, 2)),
                                            .v = ViewOf(v.transpose(1, 2)),
                                            .before = ViewOf(before.out.transpose(1, 2)),
                                            .log_sums = ViewOf(before.log_sums.transpose(1, 2)),
                                            .out = ViewOf(out.transpose(1, 2)),
                                            .scale = scale},
                                           run);
           });
  return out;
}

at::Tensor CrossAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const KeyMask& mask, double scale) {
  const bool fits = kernels::FitsCrossAttention(k.size(2), q.size(3));
  return Attend(ops, fits ? "cross_attention" : "attention", {q, k, v}, mask, scale);
}

}  // namespace reel::model
