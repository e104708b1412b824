// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/ltx_rope/norm_rope_rows.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/host_threads.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"
#include "model/bridge/or_none.h"

namespace reel::model {
namespace {

using kernels::Execution;

// Keys, their weight and their output are given, undefined where q is alone.
struct QkNormRopeCall : kernels::QkNormRopeOperands<Tensors> {
  const RopeTable& rope;  // the table, and its dense form

  bool has_keys() const { return k->defined(); }
};

// x [B, S, D] in fp32, rounded once; the order of operations is that of diffusers' LTX-2.
at::Tensor HalvesTurned(const at::Tensor& x, const RopeTable& table) {
  const int64_t half = table.split_head() / 2;
  const auto of_heads = [&](const at::Tensor& t) { return t.unflatten(2, {-1, half}); };
  const at::Tensor cos = of_heads(table.dense().cos), sin = of_heads(table.dense().sin);
  const at::Tensor halves = x.unflatten(2, {-1, 2, half}).to(at::kFloat);
  const at::Tensor first = halves.select(3, 0), second = halves.select(3, 1);
  at::Tensor out = halves * cos.unsqueeze(3);
  out.select(3, 0).addcmul_(-sin, second);
  out.select(3, 1).addcmul_(sin, first);
  return out.flatten(2).to(x.scalar_type());
}

at::Tensor Turned(const at::Tensor& x, const RopeTable& table) {
  if (table.split_head() > 0) return HalvesTurned(x, table);
  const at::Tensor pairs = x.unflatten(2, {-1, 2});  // [B, S, D/2, 2]
  const at::Tensor turned = at::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(2);
  return (x.to(at::kFloat) * table.dense().cos + turned.to(at::kFloat) * table.dense().sin)
      .to(x.scalar_type());
}

at::Tensor RmsNormed(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return at::rms_norm(x, {x.size(-1)}, OrNone(weight), eps);
}

void RunOpByOp(const QkNormRopeCall& call) {
  call.q_out = Turned(RmsNormed(call.q, *call.q_weight, call.eps), call.rope);
  if (!call.has_keys()) return;
  *call.k_out = Turned(RmsNormed(*call.k, *call.k_weight, call.eps), call.rope);
}

bool IsFloat(const at::Tensor& x) {
  return x.defined() && x.is_cpu() && x.scalar_type() == at::kFloat;
}

// [B, S, D] whose rows may lie apart, all of them as far.
bool HasRows(const at::Tensor& x) {
  return IsFloat(x) && x.dim() == 3 && x.size(2) % 2 == 0 && x.stride(2) == 1 &&
         (x.size(0) == 1 || x.stride(0) == x.size(1) * x.stride(1));
}

bool IsWeight(const at::Tensor& weight) { return IsFloat(weight) && weight.is_contiguous(); }

// In one pass over each row, by all threads that libtorch has: op by op it is a dozen passes.
void RunByRows(const QkNormRopeCall& call) {
  const auto side = [](const at::Tensor& in, const at::Tensor& weight, at::Tensor& out) {
    if (!in.defined()) return kernels::NormRopeSide{};
    out = at::empty(in.sizes(), in.options());
    return kernels::NormRopeSide{in.const_data_ptr<float>(), in.stride(1),
                                 weight.const_data_ptr<float>(), out.mutable_data_ptr<float>()};
  };
  const RopeTable::Dense& dense = call.rope.dense();
  const kernels::NormRopeRows rows = {.q = side(call.q, *call.q_weight, call.q_out),
                                      .k = side(*call.k, *call.k_weight, *call.k_out),
                                      .cos = dense.cos.const_data_ptr<float>(),
                                      .sin = dense.sin.const_data_ptr<float>(),
                                      .tokens = call.q.size(1),
                                      .width = call.q.size(2),
                                      .eps = static_cast<float>(call.eps),
                                      .half = call.rope.split_head() / 2};
  kernels::DivideRows(
      &LibtorchThreads(), call.q.size(0) * rows.tokens, 2 * rows.width,
      [&](int64_t first, int64_t end) { kernels::ComputeNormRopeRows(rows, first, end); });
}

std::string_view WhyNotByRows(const QkNormRopeCall& call) {
  const at::Tensor& k = *call.k;
  const bool takes_keys =
      !call.has_keys() || (HasRows(k) && k.sizes() == call.q.sizes() && IsWeight(*call.k_weight));
  const bool takes =
      HasRows(call.q) && IsWeight(*call.q_weight) && takes_keys && call.q.numel() > 0;
  return takes ? "" : "it needs as many queries as keys, in fp32 on a CPU";
}

}  // namespace

void AddQkNormRopeVariants(kernels::KernelCatalog& catalog) {
  constexpr std::string_view kOp = "qk_norm_rope";
  catalog.AddFramework({AtenVariant<RunOpByOp>(kOp)}, BeforeLoops(catalog));
  if (catalog.capability().device >= 0) return;
  catalog.AddFramework(
      {MakeLibtorchVariant({.op = kOp, .variant = kRowsVariant},
                           {.run = kUntyped<RunByRows>, .why_not = kUntyped<WhyNotByRows>})},
      kernels::KernelCatalog::Place::kFirst);
}

Ops::Normed Ops::QkNormRope(const at::Tensor& q, const at::Tensor& q_weight, const at::Tensor& k,
                            const at::Tensor& k_weight, double eps, const RopeTable& table) const {
  Normed result;
  const QkNormRopeCall call = {{.q = q,
                                .q_out = result.q,
                                .k = &k,
                                .k_out = &result.k,
                                .q_weight = &q_weight,
                                .k_weight = &k_weight,
                                .table = {{.cos_sin = &table.cos_sin(),
                                           .index = &table.index(),
                                           .split_head = table.split_head()}},
                                .eps = eps},
                               table};
  Call("qk_norm_rope", q.scalar_type(), &call, [&](const Execution& run) {
    result.q = at::empty_like(q);
    if (k.defined()) result.k = at::empty_like(k);
    return kernels::QkNormRope(ViewsOf<kernels::QkNormRopeOperands>(call), run);
  });
  return result;
}

at::Tensor Ops::NormRope(const at::Tensor& x, const at::Tensor& weight, double eps,
                         const RopeTable& table) const {
  return QkNormRope(x, weight, {}, {}, eps, table).q;
}

}  // namespace reel::model
