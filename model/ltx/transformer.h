// SPDX-License-Identifier: Apache-2.0
// The transformer that says where a noisy latent should go: LTXVideoTransformer3DModel.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/layers/linear.h"
#include "model/layers/timestep_embedding.h"
#include "model/ltx/shared_rows.h"
#include "model/ltx/transformer_block.h"
#include "model/ltx/transformer_config.h"

namespace reel::model::ltx {

// A prompt as the transformer needs it at every step. Of B rows A ask it, those without the mark.
struct TextContext {
  std::vector<TextKeys> blocks;
  KeyMask mask;                   // its bias [A, 1, 1, L]: -10000 where there is padding
  std::vector<bool> has_one_key;  // of each row: its first alone counts, as of an empty prompt

  int64_t rows() const { return static_cast<int64_t>(has_one_key.size()); }
  // Those of the batch from `first` on; views.
  TextContext Rows(int64_t first, int64_t count) const;
  // All that the first block needs of it.
  TextContext OfFirstBlock() const { return {{blocks[0]}, mask, has_one_key}; }
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
};

// How far a call has come behind the first block, [B', S, D]: rows that are still the same are one.
struct FirstBlock {
  at::Tensor x;      // what all others work on
  at::Tensor added;  // by the block, to what it was given
};

// Immutable after loading.
class Transformer {
 public:
  static absl::StatusOr<Transformer> Load(const WeightSet& stored, const TransformerConfig& config,
                                          at::ScalarType dtype, at::Device device,
                                          TensorsByName* shared = nullptr);

  // The blocks' layers in 8 bits, beside those that are there: what the profile "fp8" needs before
  // its first call. 0.43 of the transformer's bytes in 16 bits, until it goes; once.
  // FAILED_PRECONDITION for sides that 8-bit products do not take.
  absl::Status MakeE4m3();
  bool has_e4m3() const { return has_e4m3_; }

  // `embeddings` [B, L, caption_channels], `mask` [B, L] with 1 for what counts.
  TextContext Prepare(const Ops& ops, const at::Tensor& embeddings, const at::Tensor& mask) const;

  // `times` [N] fp32 in 0..1000.
  TimeRows Times(const Ops& ops, const at::Tensor& times) const;

  // [B, S, C], in the model's type. What rows have in common is computed once: up to the text of
  // the first block all of a clip's are the same.
  at::Tensor Velocity(const Ops& ops, const VelocityInputs& inputs) const;

  // The same in three calls, for who may leave the second out: Head(Others(First)). Of the text
  // First needs OfFirstBlock alone. To the others `inputs.x` is what First made of it, and
  // `inputs.rows` is set.
  FirstBlock First(const Ops& ops, const VelocityInputs& inputs) const;
  at::Tensor Others(const Ops& ops, const VelocityInputs& inputs) const;  // [B, S, D]
  at::Tensor Head(const Ops& ops, const VelocityInputs& inputs, const at::Tensor& x) const;
  // [B', S, D] to [B, S, D].
  static at::Tensor AllRows(const VelocityInputs& inputs, const at::Tensor& x);

  const TransformerConfig& config() const { return config_; }
  at::ScalarType dtype() const { return proj_in_.weight.scalar_type(); }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const { return parameters_; }

 private:
  explicit Transformer(const TransformerConfig& config) : config_(config) {}

  void CheckForm(const Ops& ops) const;
  // What the blocks of `range` make of x, whose rows are those of the block before them.
  struct Range {
    size_t first, end;
  };
  at::Tensor Blocks(const Ops& ops, const VelocityInputs& inputs, const SharedRows& shared,
                    at::Tensor x, Range range) const;
  at::Tensor Head(const Ops& ops, const VelocityInputs& inputs, const SharedRows& shared,
                  const at::Tensor& x) const;

  TransformerConfig config_;
  Linear proj_in_, proj_out_;
  Linear caption_1_, caption_2_;
  TimestepEmbedding time_embedding_;
  Linear time_rows_;               // to the six rows of every block
  at::Tensor scale_shift_tables_;  // [blocks, 6, D]
  at::Tensor scale_shift_table_;   // [2, D], of the head
  std::vector<TransformerBlock> blocks_;
  bool has_e4m3_ = false;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx
