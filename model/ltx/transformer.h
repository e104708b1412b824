// SPDX-License-Identifier: Apache-2.0
// The transformer that says where a noisy latent should go: LTXVideoTransformer3DModel.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/bridge/ops.h"
#include "model/layers/linear.h"
#include "model/layers/timestep_embedding.h"
#include "model/ltx/transformer_block.h"
#include "model/ltx/transformer_config.h"

namespace reel::model::ltx {

// A prompt as the transformer needs it at every step.
struct TextContext {
  std::vector<TextKeys> blocks;
  at::Tensor bias;  // [B, 1, 1, L]: -10000 where there is padding

  int64_t rows() const { return bias.size(0); }
  // Those of the batch from `first` on; views.
  TextContext Rows(int64_t first, int64_t count) const;
};

// Immutable after loading.
class Transformer {
 public:
  static absl::StatusOr<Transformer> Load(const WeightSet& stored, const TransformerConfig& config,
                                          at::ScalarType dtype, at::Device device);

  // `embeddings` [B, L, caption_channels], `mask` [B, L] with 1 for what counts.
  TextContext Prepare(const Ops& ops, const at::Tensor& embeddings, const at::Tensor& mask) const;

  // Velocity [B, S, C] of tokens x [B, S, C], in the model's type. `timesteps` [B, 1 or S] fp32 in
  // 0..1000. In the blocks `perturbed` the tokens of the last of the batch do not look at each
  // other: each keeps its own value.
  at::Tensor Velocity(const Ops& ops, const at::Tensor& x, const at::Tensor& timesteps,
                      const RopeTable& rope, const TextContext& text,
                      absl::Span<const int64_t> perturbed = {}) const;

  const TransformerConfig& config() const { return config_; }
  at::ScalarType dtype() const { return proj_in_.weight.scalar_type(); }
  int64_t bytes() const { return bytes_; }
  int64_t parameters() const { return parameters_; }

 private:
  explicit Transformer(const TransformerConfig& config) : config_(config) {}

  TransformerConfig config_;
  Linear proj_in_, proj_out_;
  Linear caption_1_, caption_2_;
  TimestepEmbedding time_embedding_;
  Linear time_rows_;              // to the six rows of every block
  at::Tensor scale_shift_table_;  // [2, D], of the head
  std::vector<TransformerBlock> blocks_;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx
