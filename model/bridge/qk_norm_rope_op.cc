// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "kernels/dispatch/run_op.h"
#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/ltx_rope/norm_rope_rows.h"
#include "kernels/torch_views/tensor_view_of.h"
#include "model/bridge/framework_variants.h"
#include "model/bridge/host_threads.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"
#include "model/bridge/ops.h"
#include "model/bridge/or_none.h"

namespace reel::model {
namespace {

using kernels::Execution;
using kernels::ViewOf;

struct QkNormRopeCall {
  static constexpr std::string_view op = "qk_norm_rope";
  const at::Tensor& x;  // q
  const at::Tensor& q_weight;
  const at::Tensor& k;
  const at::Tensor& k_weight;
  double eps;
  const RopeTable& table;
  at::Tensor& q_out;
  at::Tensor& k_out;
};

at::Tensor LtxRope(const at::Tensor& x, const RopeTable& table) {
  const at::Tensor pairs = x.unflatten(2, {-1, 2});  // [B, S, D/2, 2]
  const at::Tensor turned = at::stack({-pairs.select(-1, 1), pairs.select(-1, 0)}, -1).flatten(2);
  return (x.to(at::kFloat) * table.dense().cos + turned.to(at::kFloat) * table.dense().sin)
      .to(x.scalar_type());
}

at::Tensor RmsNormed(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return at::rms_norm(x, {x.size(-1)}, OrNone(weight), eps);
}

void RunOpByOp(const QkNormRopeCall& call) {
  call.q_out = LtxRope(RmsNormed(call.x, call.q_weight, call.eps), call.table);
  call.k_out = LtxRope(RmsNormed(call.k, call.k_weight, call.eps), call.table);
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
  call.q_out = at::empty(call.x.sizes(), call.x.options());
  call.k_out = at::empty(call.k.sizes(), call.k.options());
  const auto side = [](const at::Tensor& in, const at::Tensor& weight, at::Tensor& out) {
    return kernels::NormRopeSide{in.const_data_ptr<float>(), in.stride(1),
                                 weight.const_data_ptr<float>(), out.mutable_data_ptr<float>()};
  };
  const RopeTable::Dense& dense = call.table.dense();
  const kernels::NormRopeRows rows = {.q = side(call.x, call.q_weight, call.q_out),
                                      .k = side(call.k, call.k_weight, call.k_out),
                                      .cos = dense.cos.const_data_ptr<float>(),
                                      .sin = dense.sin.const_data_ptr<float>(),
                                      .tokens = call.x.size(1),
                                      .width = call.x.size(2),
                                      .eps = static_cast<float>(call.eps)};
  kernels::DivideRows(
      &LibtorchThreads(), call.x.size(0) * rows.tokens, 2 * rows.width,
      [&](int64_t first, int64_t end) { kernels::ComputeNormRopeRows(rows, first, end); });
}

std::string_view WhyNotByRows(const QkNormRopeCall& call) {
  const bool takes = HasRows(call.x) && HasRows(call.k) && call.k.sizes() == call.x.sizes() &&
                     IsWeight(call.q_weight) && IsWeight(call.k_weight) && call.x.numel() > 0;
  return takes ? "" : "it needs as many queries as keys, in fp32 on a CPU";
}

}  // namespace

void AddQkNormRopeVariants(kernels::KernelCatalog& catalog) {
  constexpr std::string_view kOp = QkNormRopeCall::op;
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
  Call(QkNormRopeCall{q, q_weight, k, k_weight, eps, table, result.q, result.k},
       [&](const Execution& run) {
         result = {at::empty_like(q), at::empty_like(k)};
         return kernels::QkNormRope(
             {.q = ViewOf(q),
              .q_out = ViewOf(result.q),
              .k = ViewOf(k),
              .k_out = ViewOf(result.k),
              .q_weight = ViewOf(q_weight),
              .k_weight = ViewOf(k_weight),
              .table = kernels::LtxRopeTableView{.cos_sin = ViewOf(table.cos_sin()),
                                                 .index = ViewOf(table.index()),
                                                 .cos = {},
                                                 .sin = {}},
              .eps = eps},
             run);
       });
  return result;
}

}  // namespace reel::model
