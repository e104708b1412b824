// SPDX-License-Identifier: Apache-2.0
// Records the transformer's calls and replays them, where the device can.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/graphs/graph_cache.h"
#include "model/ltx/velocity_call.h"

namespace reel::model::ltx {

// Confined to the engine thread.
class VelocityGraphs {
 public:
  using Cache = GraphCache<VelocityCall>;

  // `transformer` is borrowed. Without a recorder nothing is recorded.
  VelocityGraphs(const Transformer& transformer, std::unique_ptr<GraphRecorder> recorder,
                 int64_t most_bytes = Cache::kMostBytes)
      : transformer_(transformer), graphs_(std::move(recorder), most_bytes) {}

  const Transformer& transformer() const { return transformer_; }
  int64_t kept_bytes() const { return graphs_.kept_bytes(); }
  void Forget() { graphs_.Forget(); }

  // Like the transformer's. The next call of any kind overwrites the results.
  at::Tensor operator()(const Ops& ops, const VelocityInputs& inputs) {
    return Call(VelocityCall::Part::kWhole, ops, {&inputs, 1})[0];
  }
  std::vector<at::Tensor> operator()(const Ops& ops, absl::Span<const VelocityInputs> groups) {
    return Call(VelocityCall::Part::kWhole, ops, groups);
  }
  FirstBlock First(const Ops& ops, const VelocityInputs& inputs) {
    const std::vector<at::Tensor> made = Call(VelocityCall::Part::kFirst, ops, {&inputs, 1});
    return {made[0], made[1]};
  }
  at::Tensor Others(const Ops& ops, const VelocityInputs& inputs) {
    return Call(VelocityCall::Part::kOthers, ops, {&inputs, 1})[0];
  }

 private:
  std::vector<at::Tensor> Call(VelocityCall::Part part, const Ops& ops,
                               absl::Span<const VelocityInputs> groups) {
    transformer_.SettleStreams();
    std::vector<at::Tensor> made = graphs_(ops, {transformer_, part, groups});
    transformer_.SettleStreams();
    return made;
  }

  const Transformer& transformer_;
  Cache graphs_;
};

}  // namespace reel::model::ltx
