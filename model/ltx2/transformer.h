// SPDX-License-Identifier: Apache-2.0
// Predicts the velocity of every token of noisy latents, of pictures and of sound:
// LTX2VideoTransformer3DModel.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/layers/fitted_load.h"
#include "model/layers/linear.h"
#include "model/ltx2/block_walk.h"
#include "model/ltx2/transformer_block.h"
#include "model/ltx2/transformer_config.h"

namespace reel::model::ltx2 {

// Of one stream. Nothing in it is of another type or on another device than it is said to be.
struct StreamInputs {
  at::Tensor x;  // [B, S, C], in the model's type
  StreamTimes times;
  TextContext text;  // of Prepare
  StreamTables tables;
  // The next two are for the video stream only.
  std::vector<QueryBias> self_bias = {};  // in the model's type; of SelfBias or AttentionBias
  at::Tensor keyframes = {};  // [B, S, 1], above 0 for tokens of latents that are a single picture
  // If ranks of a group divide the video's tokens, S counts this rank's tokens, and the bias has
  // its queries only.
  RankTokens ranks = {};
};

struct VelocityInputs {
  StreamInputs video, audio;
  bool is_isolated = false;                    // the streams do not look at each other
  std::vector<int64_t> perturbed_blocks = {};  // where no token looks at its own stream
  // Of the rows, fp32 [B, 1, columns] (Ops::WithAdapters); undefined: they have none.
  at::Tensor adapters = {};
};

// Whether 8-bit products take the width of the video stream, and there is a block between the first
// and the last. Attentions between the streams may be of other widths: their layers then stay.
bool TakesLayersIn(const TransformerConfig& config, RowForm form);

// Immutable after loading, but for further layers in 8 bits, and for what is in the columns of its
// room for adapters. Prepare is for one request, whose adapters are those of `ops`; a velocity has
// those of its inputs.
class Transformer {
 public:
  static absl::StatusOr<Transformer> Load(const WeightSet& stored, const TransformerConfig& config,
                                          at::ScalarType dtype, at::Device device,
                                          const FittedLoad& fitted = {},
                                          const LoadExtras& extras = {});

  // Adds the video stream's layers in 8 bits, which the profiles "fp8" and "int8" need before their
  // first call; once for each form. The first and the last block, which decide most, have none.
  // FAILED_PRECONDITION unless TakesLayersIn, where blocks are streamed, and where codes stand in
  // the place of weights.
  absl::Status MakeLayersIn(RowForm form);
  bool HasLayersIn(RowForm form) const {
    return form == RowForm::kPlain || (form == RowForm::kInt8 ? has_int8_ : has_e4m3_);
  }

  // Once a request. `embeddings` [B, L, width that the stream's text has]; `mask` [B, L] with 1 for
  // tokens that count, or undefined where all do.
  TextContext Prepare(const Ops& ops, Stream stream, const at::Tensor& embeddings,
                      const at::Tensor& mask = {}) const;
  // `mask` [B, S, S]: how much a token sees of another, 0..1.
  std::vector<QueryBias> SelfBias(const at::Tensor& mask) const;

  // [B, S, C] of both streams, in the model's type. A model that was not trained for it ignores
  // perturbed blocks, as the reference does.
  StreamTokens Velocity(const Ops& ops, const VelocityInputs& inputs) const;
  // The same block by block, for callers that stop in between: Velocity is End of Begin, once that
  // walk is done. The walk borrows the transformer.
  BlockWalk Begin(const Ops& ops, const VelocityInputs& inputs) const;
  // The same from a later block on, for calls that were another's up to there.
  BlockWalk BeginAt(const Ops& ops, const VelocityInputs& inputs, TokensAt from) const;
  StreamTokens End(const Ops& ops, const BlockWalk& walk) const;

  const TransformerConfig& config() const { return config_; }
  at::ScalarType dtype() const { return video_.proj_in.weight.scalar_type(); }
  // Of the blocks' weights.
  WeightsForm form() const { return form_; }
  int64_t bytes() const { return bytes_; }
  const StreamableBytes& block_bytes() const { return blocks_.bytes(); }
  int64_t parameters() const { return parameters_; }

 private:
  // What a stream has around the blocks.
  struct StreamEnds {
    Linear proj_in, proj_out;
    Linear caption_1, caption_2;  // 2.0
    TimeNets time_nets;
    at::Tensor table;  // [2, D], of the head
  };
  static StreamEnds TakeEnds(Weights& weights, const TransformerConfig& config, Stream stream);
  static at::Tensor Head(const Ops& ops, const StreamEnds& ends, const at::Tensor& x,
                         const StreamModulation& modulation);

  explicit Transformer(const TransformerConfig& config) : config_(config) {}
  absl::Status DoesNotSuit() const;

  TransformerConfig config_;
  WeightsForm form_ = WeightsForm::k16;
  StreamEnds video_, audio_;
  at::Tensor keyframe_embedding_;  // [1, D], 2.5
  PlacedLayers<TransformerBlock> blocks_;
  bool has_e4m3_ = false, has_int8_ = false;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx2
