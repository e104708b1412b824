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
  const at::Tensor& out;  // the layer's outputs, or the room behind x
  bool is_room;

  int64_t ranks() const { return scales.size(-1); }
  int64_t slots() const { return ranks() / kAdapterSlot; }
  int64_t parts() const { return columns.down.size(1); }
  at::Tensor down() const { return columns.down.slice(0, 0, slots()).flatten(0, 2); }
};

// All rows as one matrix.
at::Tensor Flat(const at::Tensor& rows) { return rows.view({-1, rows.size(-1)}); }

// A row whose scale for a column is 0 takes nothing of that column, not even an infinity.
void PutScaled(const LowRankCall& call, const at::Tensor& narrow, at::Tensor out) {
  const at::Tensor scales = call.scales.unflatten(-1, {call.slots(), 1, kAdapterSlot});
  at::mul_out(out, narrow.unflatten(-1, {call.slots(), call.parts(), kAdapterSlot}), scales);
  out.masked_fill_(scales == 0, 0);  // in fp32, as the scales are
}

// [out, columns of all parts]
at::Tensor BehindWeight(const LowRankCall& call) {
  return call.columns.whole.narrow(1, call.x.size(-1), call.ranks() * call.parts());
}

// One product to the columns of all parts, so that x is read once. What an adapter adds is rounded
// in between; the sum is made in the last product, before its one rounding. Each step launches
// these kernels once a layer, so there are as few as libtorch allows.
void RunLowRank(const LowRankCall& call) {
  const int64_t slots = call.slots(), parts = call.parts();
  if (call.is_room) {
    at::Tensor room = Flat(call.out);
    at::mm_out(room, Flat(call.x), call.down().t());
    return PutScaled(call, call.out, call.out.unflatten(-1, {slots, parts, kAdapterSlot}));
  }
  const at::Tensor narrow = at::linear(call.x, call.down());
  const std::vector<int64_t> rows(call.x.sizes().begin(), call.x.sizes().end() - 1);
  if (call.columns.whole.defined()) {
    const at::Tensor scaled = at::empty_like(narrow);
    PutScaled(call, narrow, scaled.unflatten(-1, {slots, parts, kAdapterSlot}));
    Flat(call.out).addmm_(Flat(scaled), BehindWeight(call).t());
    return;
  }
  // Parts first in memory, for the last product; the sum of the sizes stays that of narrow.
  std::vector<int64_t> sizes = {parts};
  sizes.insert(sizes.end(), rows.begin(), rows.end());
  sizes.insert(sizes.end(), {slots, kAdapterSlot});
  const at::Tensor scaled = at::empty(sizes, call.x.options());
  PutScaled(call, narrow, scaled.movedim(0, -2));
  const at::Tensor up = call.columns.up.slice(2, 0, slots).flatten(2, 3).transpose(1, 2);
  call.out.view({-1, parts, call.columns.up.size(1)})
      .transpose(0, 1)
      .baddbmm_(scaled.view({parts, -1, call.ranks()}), up);
}

void CallLowRank(const Ops& ops, const LowRankCall& call) {
  ops.Call(call, [](const kernels::Execution&) {
    return absl::FailedPreconditionError(
        "The plan was made without the variants of libtorch, and low_rank_rows has no others");
  });
}

}  // namespace

void AddLowRankVariants(kernels::KernelCatalog& catalog) {
  catalog.AddFramework({AtenVariant<RunLowRank>(LowRankCall::op)},
                       kernels::KernelCatalog::Place::kFirst);
}

void AddLowRank(const Ops& ops, const at::Tensor& x, const LowRankColumns& columns,
                const at::Tensor& scales, const at::Tensor& y) {
  if (columns.is_used()) CallLowRank(ops, {x, columns, scales, y, /*is_room=*/false});
}

LengthenedOperands Lengthened(const Ops& ops, const Rows& x, const LowRankColumns& columns,
                              const at::Tensor& scales) {
  const int64_t width = x.values.size(-1), more = scales.size(-1) * columns.down.size(1);
  const at::Tensor room = x.whole.narrow(-1, width, more);
  CallLowRank(ops, {x.values, columns, scales, room, /*is_room=*/true});
  return {x.whole.narrow(-1, 0, width + more), columns.whole.narrow(1, 0, width + more)};
}

}  // namespace reel::model
