// SPDX-License-Identifier: Apache-2.0
// The transformer's call, recorded: asking for it takes a device longer than doing it where videos
// are small, and leaves it waiting between kernels where they are not. Same kernels, same bits.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/dispatch/kernel_plan.h"
#include "model/bridge/device_graph.h"
#include "model/bridge/ops.h"
#include "model/ltx/transformer.h"
#include "model/tokens/token_part.h"

namespace reel::model::ltx {

// Confined to the engine thread. A call of a size that came before is recorded, for whoever has
// that size; the graph has a place of its own for inputs. The latest are kept, as many as memory is
// set apart for. Calls that are timed, too large for that memory, of many rows of several sizes, or
// that ranks exchange within by copies (Note: [Calls that ranks exchange within]) run as they are.
class VelocityGraphs {
 public:
  // Of inputs, a set for each graph, and of what all graphs share for their work.
  static constexpr int64_t kMostBytes = int64_t{1} << 30;

  // `transformer` is borrowed. Without a recorder nothing is recorded.
  VelocityGraphs(const Transformer& transformer, std::unique_ptr<GraphRecorder> recorder,
                 int64_t most_bytes = kMostBytes)
      : transformer_(transformer), recorder_(std::move(recorder)), most_bytes_(most_bytes) {}

  const Transformer& transformer() const { return transformer_; }
  // Of the graphs' own inputs.
  int64_t kept_bytes() const;
  // All of them; a size that comes again is recorded anew.
  void Forget() { recorded_.clear(); }

  // As the transformer's. Results are overwritten by the next call, whichever it is.
  at::Tensor operator()(const Ops& ops, const VelocityInputs& inputs) {
    return Call(Part::kWhole, ops, {&inputs, 1})[0];
  }
  std::vector<at::Tensor> operator()(const Ops& ops, absl::Span<const VelocityInputs> groups) {
    return Call(Part::kWhole, ops, groups);
  }
  FirstBlock First(const Ops& ops, const VelocityInputs& inputs);
  at::Tensor Others(const Ops& ops, const VelocityInputs& inputs);

 private:
  enum class Part { kWhole, kFirst, kOthers };
  using Outputs = std::vector<at::Tensor>;
  // What must be the same for a graph to serve.
  struct GroupKind {
    std::vector<int64_t> sizes, rows, perturbed;
    std::vector<int64_t> part;  // of tokens that ranks divide
    std::vector<bool> has_one_key;
    bool operator==(const GroupKind&) const = default;
  };
  struct Kind {
    Part part = Part::kWhole;
    std::string plan;
    std::vector<GroupKind> groups;
    bool operator==(const Kind&) const = default;
  };
  // Whose contents the inputs of a group have; held for comparison.
  struct Filled {
    at::Tensor text, rope, time_of;
  };
  static Filled FilledBy(const VelocityInputs& inputs);
  static void Fill(const VelocityInputs& inputs, VelocityInputs& own, Filled& filled);
  struct Recorded {
    Kind kind;
    std::unique_ptr<DeviceGraph> graph;  // none after the first call
    bool refused = false;                // it could not be recorded, and is not tried again
    int64_t input_bytes = 0, work_bytes = 0;
    // The graph's own, of each group.
    std::vector<VelocityInputs> inputs;
    std::deque<TokenPart> parts;  // of the inputs that have one
    std::vector<Filled> filled;
    Outputs outputs;
    kernels::KernelPlan how;
    kernels::KernelCounters counters;
    std::vector<kernels::VariantUse> uses;  // of one call
  };

  using Groups = absl::Span<const VelocityInputs>;
  Outputs Call(Part part, const Ops& ops, Groups groups);
  Outputs Compute(Part part, const Ops& ops, Groups groups) const;
  static Kind KindOf(Part part, const Ops& ops, Groups groups);
  // The entry of this kind, which comes to the front; null: there was none, and now is.
  Recorded* Find(Kind kind);
  // Forgets the oldest graphs until there is memory for that of the front.
  void MakeRoom();
  // False: it cannot be recorded, and nothing has been done.
  bool Record(const Ops& ops, Groups groups, Recorded& recorded);

  const Transformer& transformer_;
  std::unique_ptr<GraphRecorder> recorder_;
  const int64_t most_bytes_;
  std::list<Recorded> recorded_;  // latest first; entries do not move
};

}  // namespace reel::model::ltx
