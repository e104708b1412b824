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
using kernels::ViewOf;

namespace {

using kernels::AttentionOperands;

// At 640 keys a step is 1 to 2 % shorter in 8 bits (one H200); below there is nothing to gain.
constexpr int64_t kManyKeys = 512;
// What `routed` gains below these is less than what choosing tiles takes; queries fewer than keys
// are those of one device of a group.
constexpr int64_t kRoutedKeys = 8'192, kRoutedQueries = 2'048;
constexpr double kExactShare = 0.25;  // of the tiles of keys
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
bool In8Bits(const Ops& ops, const AttentionOperands<Tensors>& of) {
  const kernels::KernelPlan& plan = ops.run().plan;
  const auto type = of.q.scalar_type();
  const bool will_do =
      kernels::HasE4m3Attention(plan.profile()) || kernels::HasInt8Attention(plan.profile());
  return will_do && plan.Choice("attention").empty() && of.q.is_cuda() &&
         (type == at::kBFloat16 || type == at::kHalf) && !of.bias->defined() &&
         kernels::HasKeyTiles(of.q.size(3)) && of.k.size(1) >= kManyKeys && HasVectors(of.q) &&
         HasVectors(of.k) && HasVectors(of.v);
}

void AttendIn8Bits(const Ops& ops, const AttentionOperands<Tensors>& of) {
  of.out = at::empty_like(of.q);
  kernels::AttentionArgs args = ViewsOf(of);
  const bool routed = kernels::HasRoutedAttention(ops.run().plan.profile()) &&
                      of.k.size(1) >= kRoutedKeys && of.q.size(1) >= kRoutedQueries;
  if (routed) args.exact_share = kExactShare;
  const int64_t bytes = routed ? kernels::RoutedScratchBytes(args.q, args.k, args.exact_share)
                               : kernels::AttentionScratchBytes(args.k);
  const at::Tensor scratch = at::empty({bytes}, of.q.options().dtype(at::kByte));
  args.scratch = ViewOf(scratch);
  args.int8_scores = kernels::HasInt8Attention(ops.run().plan.profile());
  ThrowIfError(kernels::Attention(args, ops.run()));
}

at::Tensor Attend(const Ops& ops, std::string_view op, const AttentionOperands<Tensors>& of) {
  const auto heads_first = [](const at::Tensor& t) { return t.transpose(1, 2); };
  const aten::Heads heads = {heads_first(of.q), heads_first(of.k), heads_first(of.v)};
  aten::AttentionCall::KeysMet met;
  const aten::AttentionCall call = {of, heads, &met};
  ops.Call(op, of.q.scalar_type(), &call, [&](const Execution& run) {
    of.out = at::empty_like(of.q);
    kernels::AttentionArgs args = ViewsOf(of);
    if (args.key_lengths.has_value()) args.bias.reset();
    return op == "attention" ? kernels::Attention(args, run) : kernels::CrossAttention(args, run);
  });
  if (met.count == 0) return of.out;
  return AttentionRest(ops, of.q, of.k.slice(1, met.count), of.v.slice(1, met.count),
                       {of.out, met.log_sums}, of.scale);
}

}  // namespace

at::Tensor Attention(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& bias, double scale) {
  at::Tensor out;
  const AttentionOperands<Tensors> of = {
      .q = q, .k = k, .v = v, .bias = &bias, .out = out, .scale = scale};
  if (!In8Bits(ops, of)) return Attend(ops, "attention", of);
  AttendIn8Bits(ops, of);
  return out;
}

at::Tensor AttentionNotIn8Bits(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& v, const at::Tensor& bias, double scale) {
  at::Tensor out;
  return Attend(ops, "attention",
                {.q = q, .k = k, .v = v, .bias = &bias, .out = out, .scale = scale});
}

at::Tensor AttentionRest(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& v, const Attended& before, double scale) {
  at::Tensor out;
  const kernels::AttentionRestOperands<Tensors> call = {.q = q,
                                                        .k = k,
                                                        .v = v,
                                                        .before = before.out,
                                                        .log_sums = before.log_sums,
                                                        .out = out,
                                                        .scale = scale};
  ops.Call("attention_rest", q.scalar_type(), &call, [&](const Execution& run) {
    out = at::empty_like(q);
    return kernels::AttentionRest(ViewsOf(call), run);
  });
  return out;
}

at::Tensor CrossAttention(const Ops& ops, const at::Tensor& q, const at::Tensor& k,
                          const at::Tensor& v, const KeyMask& mask, double scale) {
  const bool fits = kernels::FitsCrossAttention(k.size(1), q.size(3));
  at::Tensor out;
  return Attend(ops, fits ? "cross_attention" : "attention",
                {.q = q,
                 .k = k,
                 .v = v,
                 .bias = &mask.bias,
                 .key_lengths = &mask.lengths,
                 .out = out,
                 .scale = scale});
}

}  // namespace reel::model
