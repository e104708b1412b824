// SPDX-License-Identifier: Apache-2.0
// Predicts the velocity of every token of a noisy latent: LTXVideoTransformer3DModel.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/bridge/ops.h"
#include "model/layers/fitted_load.h"
#include "model/layers/linear.h"
#include "model/layers/timestep_embedding.h"
#include "model/ltx/block_walk.h"
#include "model/ltx/transformer_config.h"
#include "model/ltx/velocity_inputs.h"

namespace reel::model::ltx {

// The first block's results, [B', S, D]: rows that are still equal are one.
struct FirstBlock {
  at::Tensor x;      // the input of the other blocks
  at::Tensor added;  // what the block added to its input
};

// Immutable after loading, but for what is in the columns of its room for adapters. Prepare and
// Times are for one request, whose adapters are those of `ops`; velocities have those of their
// inputs.
class Transformer {
 public:
  static absl::StatusOr<Transformer> Load(const WeightSet& stored, const TransformerConfig& config,
                                          at::ScalarType dtype, at::Device device,
                                          const LoadExtras& extras = {},
                                          const FittedLoad& fitted = {});

  // Adds the blocks' layers in 8 bits, which the profiles "fp8" and "int8" need before their first
  // call; once for each form. Each takes 0.43 of the transformer's bytes in 16 bits as long as the
  // transformer lives. FAILED_PRECONDITION for sizes that 8-bit products do not take, where blocks
  // are streamed, and where codes stand in the place of weights.
  absl::Status MakeLayersIn(RowForm form);
  bool HasLayersIn(RowForm form) const {
    return form == RowForm::kPlain || (form == RowForm::kInt8 ? has_int8_ : has_e4m3_);
  }

  // `embeddings` [B, L, caption_channels], `mask` [B, L] with 1 for tokens that count. Drops most
  // of the padding behind the last of them.
  TextContext Prepare(const Ops& ops, const at::Tensor& embeddings, const at::Tensor& mask) const;

  // `times` [N] fp32 in 0..1000.
  TimeRows Times(const Ops& ops, const at::Tensor& times) const;

  // [B, S, C], in the model's type. Rows of a video are computed once while they are equal: up to
  // the text of the first block.
  at::Tensor Velocity(const Ops& ops, const VelocityInputs& inputs) const;
  // The same for several groups of videos, each of one size: layers take the rows of all groups in
  // one call. Where there are several groups, none is perturbed.
  std::vector<at::Tensor> Velocities(const Ops& ops, absl::Span<const VelocityInputs> groups) const;

  // The same block by block, for callers that stop in between: Velocities is End of Begin, once
  // that walk is done. The walk borrows `groups`.
  std::unique_ptr<BlockWalk> Begin(const Ops& ops, absl::Span<const VelocityInputs> groups) const;
  std::vector<at::Tensor> End(const Ops& ops, const BlockWalk& walk) const;

  // The same in three calls, for callers that may skip the second: Head(Others(First)). First needs
  // the text's OfFirstBlock alone. Others takes First's x as `inputs.x`, and needs `inputs.rows`.
  FirstBlock First(const Ops& ops, const VelocityInputs& inputs) const;
  at::Tensor Others(const Ops& ops, const VelocityInputs& inputs) const;  // [B, S, D]
  at::Tensor Head(const Ops& ops, const VelocityInputs& inputs, const at::Tensor& x) const;
  // [B', S, D] to [B, S, D].
  static at::Tensor AllRows(const VelocityInputs& inputs, const at::Tensor& x);

  const TransformerConfig& config() const { return config_; }
  at::ScalarType dtype() const { return proj_in_.weight.scalar_type(); }
  // Of the blocks' weights.
  WeightsForm form() const { return form_; }
  int64_t bytes() const { return bytes_; }
  const StreamableBytes& block_bytes() const { return blocks_.bytes(); }
  int64_t parameters() const { return parameters_; }
  // That have ever had an adapter in their columns: calls leave out the columns of the others.
  int64_t adapted_products() const {
    return proj_in_.columns.defined() ? proj_in_.columns.in_use->count : 0;
  }

  // Before and after calls that are recorded or replayed.
  void SettleStreams() const { blocks_.places().Settle(); }

 private:
  explicit Transformer(const TransformerConfig& config) : config_(config) {}

  absl::Status CheckSides(RowForm form) const;
  void CheckForm(const Ops& ops) const;
  // For all blocks, of the texts [A, L, D] that are asked, and the first tokens [B - A, 1, D] of
  // the others.
  TextKeys KeysOf(const Ops& ops, const at::Tensor& asked, const at::Tensor& known) const;
  // The last layer's input of all rows of a group, from `x` of those that are apart.
  at::Tensor HeadRows(const Ops& ops, const VelocityInputs& inputs, const at::Tensor& x,
                      const TokenLayout& layout, size_t group) const;

  TransformerConfig config_;
  WeightsForm form_ = WeightsForm::k16;
  Linear proj_in_, proj_out_;
  Linear caption_1_, caption_2_;
  Linear text_keys_;  // and values, of all blocks
  TimestepEmbedding time_embedding_;
  Linear time_rows_;               // to the six rows of every block
  at::Tensor scale_shift_tables_;  // [blocks, 6, D]
  at::Tensor scale_shift_table_;   // [2, D], of the head
  PlacedLayers<TransformerBlock> blocks_;
  bool has_e4m3_ = false, has_int8_ = false;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx
