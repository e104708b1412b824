// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/qk_norm_rope_rows.h"

#include "kernels/ltx_rope/norm_rope_rows.h"
#include "model/bridge/host_threads.h"

namespace reel::model::aten {
namespace {

bool IsFloat(const at::Tensor& x) {
  return x.defined() && x.is_cpu() && x.scalar_type() == at::kFloat;
}

// [B, S, D] whose rows may lie apart, all of them as far.
bool HasRows(const at::Tensor& x) {
  return IsFloat(x) && x.dim() == 3 && x.size(2) % 2 == 0 && x.stride(2) == 1 &&
         (x.size(0) == 1 || x.stride(0) == x.size(1) * x.stride(1));
}

bool IsWeight(const at::Tensor& weight) { return IsFloat(weight) && weight.is_contiguous(); }

}  // namespace

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

}  // namespace reel::model::aten
