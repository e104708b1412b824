// SPDX-License-Identifier: Apache-2.0
// What a call of the transformer is given: clips of one size, their times, places and texts.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "model/bridge/attention_ops.h"
#include "model/ltx/transformer_block.h"
#include "model/tokens/shared_rows.h"

namespace reel::model::ltx {

// A prompt as the transformer needs it at every step. Of B rows A ask it, those without the mark.
struct TextContext {
  TextKeys keys;                  // of all blocks
  KeyMask mask;                   // its bias [A, 1, 1, L]: -10000 where there is padding
  std::vector<bool> has_one_key;  // of each row: its first alone counts, as of an empty prompt

  int64_t rows() const { return static_cast<int64_t>(has_one_key.size()); }
  // Those of the batch from `first` on; views.
  TextContext Rows(int64_t first, int64_t count) const;
  // Of one block; views.
  TextKeys KeysOf(size_t block) const;
  // All that the first block needs of it.
  TextContext OfFirstBlock() const;
  // With each tensor as `made` makes it of this one's; those that are undefined stay so.
  TextContext With(absl::FunctionRef<at::Tensor(const at::Tensor&)> made) const;
  // All there are, always in the same order.
  std::vector<at::Tensor> tensors() const;
};

// What the transformer makes of N times.
struct TimeRows {
  at::Tensor embedded;  // [N, D]
  at::Tensor rows;      // [N, 6 D], for every block

  TimeRows Slice(int64_t first, int64_t count) const {
    return {embedded.slice(0, first, first + count), rows.slice(0, first, first + count)};
  }
};

// One call of the transformer: for every clip some rows, which differ in their text.
struct VelocityInputs {
  at::Tensor x;             // tokens [clips, S, C]
  TimeRows time;            // of the clips' times
  at::Tensor time_of = {};  // [clips, S]: which of them a token has; undefined: each clip has one
  RopeTable rope;           // of S tokens
  TextContext text;         // of B rows: those of the first clip, then those of the next
  std::vector<int64_t> rows = {};  // of each clip; empty: one each
  // In these blocks the tokens of the last of the batch do not look at each other: each keeps its
  // own value. Of a clip alone it has the text of the row before it, and is made once with that one
  // up to the first of these blocks.
  std::vector<int64_t> perturbed = {};
  // Borrowed; where the S tokens are those of one rank of several, whose calls go side by side.
  const TokenPart* part = nullptr;
};

// A group in a call, whose inputs are borrowed.
struct StepGroup {
  const VelocityInputs& inputs;
  SharedRows shared;
};
StepGroup GroupOf(const VelocityInputs& inputs, SharedRows::Order order);

// [N, k, D] of the times to [clips, 1 or S, k, D]: those of each token, where they differ.
at::Tensor ForTokens(const at::Tensor& by_time, const at::Tensor& time_of);

}  // namespace reel::model::ltx
