// SPDX-License-Identifier: Apache-2.0
// The inputs of a call of the transformer: videos of one size, their times, places and texts.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "model/bridge/attention_ops.h"
#include "model/denoise/time_table.h"
#include "model/tokens/token_layout.h"

namespace reel::model::ltx {

// The keys and values of a text, which are the same at every step. Of one block, or of all blocks
// with these as the first dimension.
struct TextKeys {
  at::Tensor k, v;  // [A, L, D], of the rows that ask
  at::Tensor only;  // [B - A, 1, D]: the answers of the others; undefined: all ask
};

// The texts of B rows as the transformer needs them at every step. A of them ask, the unmarked
// ones.
struct TextContext {
  TextKeys keys;                  // of all blocks
  KeyMask mask;                   // its bias [A, 1, 1, L]: -10000 where there is padding
  std::vector<bool> has_one_key;  // of each row: its first alone counts, as of an empty prompt

  int64_t rows() const { return static_cast<int64_t>(has_one_key.size()); }
  // The texts of those rows, as views.
  TextContext Rows(int64_t first, int64_t count) const;
  // Keys and values of one block, as views.
  TextKeys KeysOf(size_t block) const;
  // With the keys and values of the first block alone.
  TextContext OfFirstBlock() const;
  // With `made` of each tensor; undefined ones stay so.
  TextContext With(absl::FunctionRef<at::Tensor(const at::Tensor&)> made) const;
  // All that are defined, always in the same order.
  std::vector<at::Tensor> tensors() const;
};

// Videos of one size in a call: each has one row or more, which differ in their text.
struct VelocityInputs {
  at::Tensor x;             // tokens [videos, S, C]
  TimeRows time;            // of the videos' times
  at::Tensor time_of = {};  // [videos, S]: which of them a token has; undefined: each video has one
  RopeTable rope;           // of S tokens
  TextContext text;         // of B rows: those of the first video, then those of the next
  std::vector<int64_t> rows = {};  // of each video; empty: one each
  // In these blocks the tokens of the last row do not look at each other: each keeps its own value.
  // The row of a video that is alone has the text of the row before it, and is computed with that
  // one up to the first of these blocks.
  std::vector<int64_t> perturbed = {};
  RankTokens ranks = {};  // divided: the S tokens are this rank's, and all ranks call side by side
  // Of the videos, fp32 [videos, 1, columns] (Ops::WithAdapters); of all groups of a call, or of
  // none. The text's keys have theirs.
  at::Tensor adapters = {};
};

// The layout of a call of these groups, whose `x` may have rows that are apart already.
TokenLayout LayoutOf(absl::Span<const VelocityInputs> groups, TokenLayout::Order order);

// Vectors of N times, [N, k, D], to those of each token where tokens have times of their own:
// [videos, 1 or S, k, D].
at::Tensor ForTokens(const at::Tensor& by_time, const at::Tensor& time_of);

}  // namespace reel::model::ltx
