// SPDX-License-Identifier: Apache-2.0
// A call of the transformer as a graph of the device: its kind, and a copy of its inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/bridge/ops.h"
#include "model/ltx/transformer.h"

namespace reel::model::ltx {

// The whole transformer or a part of it, for some groups of videos; all borrowed.
struct VelocityCall {
  enum class Part { kWhole, kFirst, kOthers };

  // Calls of equal kinds share a graph.
  struct GroupKind {
    std::vector<int64_t> sizes, rows, perturbed;
    std::vector<int64_t> division;  // of tokens between ranks
    std::vector<bool> has_one_key;
    bool operator==(const GroupKind&) const = default;
  };
  struct Kind {
    Part part = Part::kWhole;
    std::vector<GroupKind> groups;
    int64_t adapted_products = 0;  // that add something of adapters, where a group has any
    bool operator==(const Kind&) const = default;
  };
  class Copy;

  const Transformer& transformer;
  Part part;
  absl::Span<const VelocityInputs> groups;

  Kind kind() const;
  // False for many rows of several sizes.
  bool may_come_again() const;
  // False if ranks exchange within the call by copies. Note: [Calls that ranks exchange within].
  bool may_be_recorded() const;
  int64_t input_bytes() const;
  int64_t work_bytes() const;
  std::vector<at::Tensor> Compute(const Ops& ops) const;
};

// Owns memory with the contents of a call.
class VelocityCall::Copy {
 public:
  explicit Copy(const VelocityCall& call);
  // Takes over the contents of a call of the same kind.
  void Fill(const VelocityCall& call);
  VelocityCall call() const { return {transformer_, part_, inputs_}; }

 private:
  // The tensors that a group's inputs were last copied from, held for comparison.
  struct Filled {
    at::Tensor text, rope, time_of, adapters;
  };
  static Filled FilledBy(const VelocityInputs& inputs);
  static void Fill(const VelocityInputs& inputs, VelocityInputs& own, Filled& filled);

  const Transformer& transformer_;
  const Part part_;
  std::vector<VelocityInputs> inputs_;
  std::vector<Filled> filled_;
};

}  // namespace reel::model::ltx
