// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/ltx_rope/ltx_rope.h"
#include "kernels/rope/rope.h"
#include "kernels/torch_ops/torch_operator.h"

namespace reel::kernels {
namespace {

absl::Status RunRope3d(const TorchCall& call, const Execution& run) {
  Rope3dArgs args;
  args.q = call.View("q");
  args.q_out = call.View("q_out");
  args.k = call.OptionalView("k");
  args.k_out = call.OptionalView("k_out");
  args.frames = call.Integer("frames");
  args.height = call.Integer("height");
  args.width = call.Integer("width");
  const std::vector<int64_t> split = call.Integers("split");
  const std::vector<double> theta = call.Reals("theta");
  if ((call.Has("split") && split.size() != 3) || theta.size() != 3) {
    return absl::InvalidArgumentError(
        "rope_3d: split and theta have one value for each of t, h, w");
  }
  if (call.Has("split")) args.split = {split[0], split[1], split[2]};
  std::copy_n(theta.begin(), 3, args.theta.begin());
  return Rope3d(args, run);
}

LtxRopeTableView TableOf(const TorchCall& call) {
  return {.cos_sin = call.OptionalView("cos_sin"),
          .index = call.OptionalView("index"),
          .cos = call.OptionalView("cos"),
          .sin = call.OptionalView("sin")};
}

bool HasTable(const TorchCall& call) {
  return call.Has("cos_sin") || call.Has("index") || call.Has("cos") || call.Has("sin");
}

absl::Status RunLtxRope(const TorchCall& call, const Execution& run) {
  return LtxRope({.q = call.View("q"),
                  .q_out = call.View("q_out"),
                  .k = call.OptionalView("k"),
                  .k_out = call.OptionalView("k_out"),
                  .table = TableOf(call)},
                 run);
}

absl::Status RunQkNormRope(const TorchCall& call, const Execution& run) {
  QkNormRopeArgs args;
  args.q = call.View("q");
  args.q_out = call.View("q_out");
  args.k = call.OptionalView("k");
  args.k_out = call.OptionalView("k_out");
  args.q_weight = call.OptionalView("q_weight");
  args.k_weight = call.OptionalView("k_weight");
  if (HasTable(call)) args.table = TableOf(call);
  args.eps = call.Real("eps");
  return QkNormRope(args, run);
}

constexpr char kQk[] = "Tensor(a!) q_out, Tensor(b!)? k_out";
constexpr char kTwo[] = "(Tensor, Tensor)";

}  // namespace

std::vector<TorchOperator> RopeOperators() {
  return {
      {"rope_3d", "rope_3d", kQk, kTwo,
       "Tensor q, Tensor? k, SymInt frames, SymInt height, SymInt width, *, "
       "int[]? split=None, float[] theta=[10000.0, 10000.0, 10000.0]",
       LikeQk, RunRope3d},
      {"ltx_rope", "ltx_rope", kQk, kTwo,
       "Tensor q, Tensor? k=None, *, Tensor? cos_sin=None, Tensor? index=None, "
       "Tensor? cos=None, Tensor? sin=None",
       LikeQk, RunLtxRope},
      {"qk_norm_rope", "qk_norm_rope", kQk, kTwo,
       "Tensor q, Tensor? k=None, Tensor? q_weight=None, Tensor? k_weight=None, *, "
       "Tensor? cos_sin=None, Tensor? index=None, Tensor? cos=None, Tensor? sin=None, "
       "float eps=1e-5",
       LikeQk, RunQkNormRope},
  };
}

}  // namespace reel::kernels
