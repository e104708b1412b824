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
// nothing of a column takes nothing of an overflow there either. The host asks for each of these
// kernels, behind hundreds of layers a step: as few as libtorch lets them be.
void RunLowRank(const LowRankCall& call) {
  const int64_t ranks = call.scales.size(-1), slots = ranks / kAdapterSlot;
  const at::Tensor down = call.columns.down.slice(0, 0, slots);
  const int64_t parts = down.size(1), out = call.columns.up.size(1);
  const at::Tensor narrow =
      at::linear(call.x, down.flatten(0, 2)).unflatten(-1, {slots, parts, kAdapterSlot});
  const at::Tensor scales = call.scales.unflatten(-1, {slots, 1, kAdapterSlot});
  // Parts first in memory, for the last product; the sum of the sizes stays that of narrow.
  const std::vector<int64_t> rows(call.x.sizes().begin(), call.x.sizes().end() - 1);
  std::vector<int64_t> sizes = {parts};
  sizes.insert(sizes.end(), rows.begin(), rows.end());
  sizes.insert(sizes.end(), {slots, kAdapterSlot});
  const at::Tensor scaled = at::empty(sizes, call.x.options());
  at::Tensor as_narrow = scaled.movedim(0, -2);
  at::mul_out(as_narrow, narrow, scales);  // in fp32, as the scales are
  as_narrow.masked_fill_(scales == 0, 0);
  const at::Tensor up = call.columns.up.slice(2, 0, ranks).transpose(1, 2);
  call.y.view({-1, parts, out}).transpose(0, 1).baddbmm_(scaled.view({parts, -1, ranks}), up);
}

}  // namespace

void AddLowRankVariants(kernels::KernelCatalog& catalog) {
  catalog.AddFramework({AtenVariant<RunLowRank>(LowRankCall::op)},
                       kernels::KernelCatalog::Place::kFirst);
}

void AddLowRank(const Ops& ops, const at::Tensor& x, const LowRankColumns& columns,
                const at::Tensor& scales, const at::Tensor& y) {
  if (!columns.is_used()) return;
  ops.Call(LowRankCall{x, columns, scales, y}, [](const kernels::Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and low_rank_rows has no others");
  });
}

}  // namespace reel::model
