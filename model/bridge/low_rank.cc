// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/low_rank.h"

#include <string_view>

#include "absl/status/status.h"
#include "model/bridge/libtorch_variant.h"
#include "model/bridge/operator_variants.h"

namespace reel::model {
namespace {

struct LowRankCall {
  static constexpr std::string_view op = "low_rank_rows";
  const at::Tensor& x;
  const LowRankColumns& columns;
  const at::Tensor& scales;
  const at::Tensor& y;
};

// One product to the columns of all parts, so that x is read once. What an adapter adds is rounded
// in between; the sum is made in the last product, before its one rounding. A row that takes
// nothing of a column takes nothing of an overflow there either.
void RunLowRank(const LowRankCall& call) {
  const int64_t ranks = call.scales.size(-1), slots = ranks / kAdapterSlot;
  const at::Tensor down = call.columns.down.slice(0, 0, slots);
  const int64_t parts = down.size(1);
  const at::Tensor narrow =
      at::linear(call.x, down.flatten(0, 2)).unflatten(-1, {slots, parts, kAdapterSlot});
  const at::Tensor scales = call.scales.unflatten(-1, {slots, 1, kAdapterSlot});
  const at::Tensor scaled =
      (narrow.to(at::kFloat) * scales).masked_fill_(scales == 0, 0).to(call.x.scalar_type());
  const int64_t out = call.columns.up.size(1);
  const at::Tensor y = call.y.view({-1, parts * out});
  for (int64_t part = 0; part < parts; ++part) {
    const at::Tensor own = scaled.select(-2, part).reshape({-1, ranks});
    const at::Tensor up = call.columns.up[part].slice(1, 0, ranks);
    y.slice(1, part * out, (part + 1) * out).addmm_(own, up.t());
  }
}

}  // namespace

void AddLowRankVariants(kernels::KernelCatalog& catalog) {
  catalog.AddFramework({AtenVariant<RunLowRank>(LowRankCall::op)},
                       kernels::KernelCatalog::Place::kFirst);
}

void AddLowRank(const Ops& ops, const at::Tensor& x, const LowRankColumns& columns,
                const at::Tensor& scales, const at::Tensor& y) {
  ops.Call(LowRankCall{x, columns, scales, y}, [](const kernels::Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and low_rank_rows has no others");
  });
}

}  // namespace reel::model
