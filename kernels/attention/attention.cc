// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/route_layout.h"
#include "kernels/attention/tile_layout.h"
#include "kernels/base/status_macros.h"
#include "kernels/dispatch/argument_checks.h"
#include "kernels/dispatch/run_op.h"

namespace reel::kernels {
namespace {

constexpr KernelVariant kCpuVariants[] = {CpuVariant<AttentionLoops>("loops")};

// Checks a bias [1 or B, 1 or N, 1 or S, L] beside q and k.
void CheckBias(const AttentionArgs& args, ArgumentChecks& checks) {
  checks.Floating("bias", *args.bias, 4, 4);
  if (!checks.ok()) return;
  checks.VectorDtype("bias", *args.bias, args.q);
  const int64_t whole[] = {args.q.size(0), args.q.size(2), args.q.size(1), args.k.size(1)};
  for (int d = 0; d < 4; ++d) {
    const int64_t size = args.bias->size(d);
    checks.Require(
        size == whole[d] || (d < 3 && size == 1),
        absl::StrCat("The bias must be [1 or B, 1 or N, 1 or S, L]: ", Describe(*args.bias),
                     " beside q ", Describe(args.q), ", k ", Describe(args.k)));
  }
}

// Checks q [B, S, N, Dh] with k and v [B, L, N, Dh].
void CheckHeads(const TensorView& q, const TensorView& k, const TensorView& v,
                ArgumentChecks& checks) {
  checks.Floating("q", q, 4, 4);
  checks.Floating("k", k, 4, 4);
  if (!checks.ok()) return;
  checks.Require(k.dtype == q.dtype && k.size(0) == q.size(0) && k.size(2) == q.size(2) &&
                     k.size(3) == q.size(3),
                 absl::StrCat("q and k must have the same type, batch, heads and width: q ",
                              Describe(q), ", k ", Describe(k)));
  checks.Like("v", v, "k", k);
}

void CheckScale(double scale, ArgumentChecks& checks) {
  checks.Require(std::isfinite(scale) && scale >= 0,
                 absl::StrCat("The scale must be finite and not below zero: ", scale));
}

void CheckScratch(const TensorView& scratch, const AttentionArgs& args, ArgumentChecks& checks) {
  checks.Typed("scratch", scratch, MaskOf(Dtype::kU8), 1, 1);
  if (!checks.ok()) return;
  const int64_t needed = args.exact_share == 0
                             ? AttentionScratchBytes(args.k)
                             : RoutedScratchBytes(args.q, args.k, args.exact_share);
  checks.Require(
      scratch.size(0) >= needed && scratch.stride(0) == 1,
      absl::StrCat("The scratch must have ", needed, " bytes side by side: ", Describe(scratch)));
}

void Check(const AttentionArgs& args, ArgumentChecks& checks) {
  CheckHeads(args.q, args.k, args.v, checks);
  if (!checks.ok()) return;
  if (args.bias.has_value()) CheckBias(args, checks);
  if (args.key_lengths.has_value()) {
    checks.Typed("key_lengths", *args.key_lengths, MaskOf(Dtype::kI32), 1, 1);
    if (checks.ok()) checks.Sizes("key_lengths", *args.key_lengths, {args.q.size(0)});
  }
  if (args.q_scale.has_value()) {
    checks.Typed("q_scale", *args.q_scale, MaskOf(Dtype::kF32), 2, 2);
    if (checks.ok()) checks.Sizes("q_scale", *args.q_scale, {args.q.size(0), args.q.size(1)});
  }
  checks.Like("out", args.out, "q", args.q);
  CheckScale(args.scale, checks);
  checks.Require(args.exact_share >= 0 && args.exact_share <= 1,
                 absl::StrCat("The exact share must be 0 to 1: ", args.exact_share));
  if (args.scratch.has_value()) CheckScratch(*args.scratch, args, checks);
  checks.Output("out", args.out);
  if (args.scratch.has_value()) checks.Output("scratch", *args.scratch);
}

void Check(const AttentionRestArgs& args, ArgumentChecks& checks) {
  CheckHeads(args.q, args.k, args.v, checks);
  if (!checks.ok()) return;
  checks.Like("before", args.before, "q", args.q);
  checks.Typed("log_sums", args.log_sums, MaskOf(Dtype::kF32), 3, 3);
  if (!checks.ok()) return;
  checks.Sizes("log_sums", args.log_sums, {args.q.size(0), args.q.size(1), args.q.size(2)});
  checks.Like("out", args.out, "q", args.q);
  CheckScale(args.scale, checks);
  checks.Output("out", args.out, {&args.before});
}

AttentionOperand OperandOf(const TensorView& view) {
  AttentionOperand operand{.data = view.data, .dtype = view.dtype, .strides = {}};
  for (int d = 0; d < 4; ++d) operand.strides[d] = view.stride(d);
  return operand;
}

// Parameters that both kinds of arguments have.
template <typename Args>
AttentionParams SharedParams(const Args& args) {
  AttentionParams params;
  params.batch = args.q.size(0);
  params.queries = args.q.size(1);
  params.keys = args.k.size(1);
  params.heads = args.q.size(2);
  params.width = args.q.size(3);
  params.q = OperandOf(args.q);
  params.k = OperandOf(args.k);
  params.v = OperandOf(args.v);
  params.out = OperandOf(args.out);
  params.scale = static_cast<float>(
      args.scale == 0 ? 1 / std::sqrt(static_cast<double>(params.width)) : args.scale);
  return params;
}

AttentionParams ParamsOf(const AttentionArgs& args) {
  AttentionParams params = SharedParams(args);
  if (args.bias.has_value()) {
    const auto stride = [&](int d) { return args.bias->size(d) == 1 ? 0 : args.bias->stride(d); };
    params.bias = {
        args.bias->data, args.bias->dtype, {stride(0), stride(2), stride(1), args.bias->stride(3)}};
  }
  if (args.key_lengths.has_value()) {
    params.key_lengths = static_cast<const int32_t*>(args.key_lengths->data);
    params.key_lengths_stride = args.key_lengths->stride(0);
  }
  if (args.q_scale.has_value()) {
    params.q_scale = {
        args.q_scale->data, Dtype::kF32, {args.q_scale->stride(0), args.q_scale->stride(1), 0, 0}};
  }
  if (args.scratch.has_value()) params.scratch = args.scratch->data;
  params.key_form = args.int8_scores ? KeyForm::kInt8 : KeyForm::kE4m3;
  params.exact_share = args.exact_share;
  return params;
}

AttentionParams ParamsOf(const AttentionRestArgs& args) {
  AttentionParams params = SharedParams(args);
  params.before = OperandOf(args.before);
  params.log_sums = {args.log_sums.data,
                     Dtype::kF32,
                     {args.log_sums.stride(0), args.log_sums.stride(1), args.log_sums.stride(2)}};
  return params;
}

template <typename Args>
absl::Status Launch(const OpVariants& rows, const Args& args, const ArgumentChecks& checks,
                    const Execution& run) {
  const AttentionParams params = ParamsOf(args);
  return RunOp({.cpu_variants = rows,
                .dtype = args.q.dtype,
                .params = &params,
                .empty = args.q.num_elements() == 0,
                .tensors = [&] { return checks.Tensors(); }},
               run);
}

absl::Status RefuseOtherKeys(const char* op, const TensorView& q, const TensorView& k,
                             const ArgumentChecks& checks) {
  if (FitsCrossAttention(k.size(1), q.size(3))) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(op, " takes 1 to ", kMostPromptKeys,
                   " keys and heads of 64 or 128, attention takes others: ", checks.Shapes()));
}

}  // namespace

int64_t AttentionScratchBytes(const TensorView& k) {
  return k.size(0) * k.size(2) * KeyTiles(k.size(1)) * KeyTileBytes(k.size(3));
}

int64_t RoutedScratchBytes(const TensorView& q, const TensorView& k, double exact_share) {
  AttentionParams params;
  params.batch = k.size(0);
  params.queries = q.size(1);
  params.keys = k.size(1);
  params.heads = k.size(2);
  params.width = k.size(3);
  params.exact_share = exact_share;
  return RoutesOf(params).bytes;
}

bool FitsCrossAttention(int64_t keys, int64_t width) {
  return keys >= 1 && keys <= kMostPromptKeys && (width == 64 || width == 128);
}

OpVariants AttentionCpuVariants() {
  return MakeVariants<AttentionParams>("attention", kCpuVariants);
}
OpVariants CrossAttentionCpuVariants() {
  return MakeVariants<AttentionParams>("cross_attention", kCpuVariants);
}
OpVariants AttentionRestCpuVariants() {
  return MakeVariants<AttentionParams>("attention_rest", kCpuVariants);
}

absl::Status Attention(const AttentionArgs& args, const Execution& run) {
  ArgumentChecks checks("attention", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  return Launch(AttentionCpuVariants(), args, checks, run);
}

absl::Status CrossAttention(const AttentionArgs& args, const Execution& run) {
  ArgumentChecks checks("cross_attention", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  REEL_RETURN_IF_ERROR(RefuseOtherKeys("Cross attention", args.q, args.k, checks));
  return Launch(CrossAttentionCpuVariants(), args, checks, run);
}

absl::Status AttentionRest(const AttentionRestArgs& args, const Execution& run) {
  ArgumentChecks checks("attention_rest", run.stream);
  Check(args, checks);
  REEL_RETURN_IF_ERROR(checks.status());
  REEL_RETURN_IF_ERROR(RefuseOtherKeys("The rest of an attention", args.q, args.k, checks));
  return Launch(AttentionRestCpuVariants(), args, checks, run);
}

}  // namespace reel::kernels
