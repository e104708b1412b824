// SPDX-License-Identifier: Apache-2.0
// One block of the transformer: self-attention, attention to the text, feed-forward.
#pragma once

#include <string>
#include <vector>

#include "model/bridge/row_ops.h"
#include "model/layers/feed_forward.h"
#include "model/layers/linear.h"
#include "model/ltx/block_call.h"
#include "model/ltx/transformer_config.h"

namespace reel::model::ltx {

// Projections of one attention. Query and key norms span all heads.
struct AttentionLayer {
  Linear to_qkv;  // self-attention: one product for all three
  Linear to_q;    // attention to the text, whose keys the transformer makes for all blocks
  Linear to_out;
  at::Tensor norm_q, norm_k;  // [D]
  int64_t num_heads = 0;
  bool of_text = false;

  // x [B, S, D] to queries [B, S, D], normed.
  at::Tensor Query(const Ops& ops, const at::Tensor& x) const;
  // Keys [B, L, D] of a text, normed.
  at::Tensor NormedKey(const Ops& ops, const at::Tensor& k) const;
  // q, k, v [B, *, D]; the mask is a text's. Before the last projection.
  at::Tensor Heads(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                   const KeyMask& mask) const;
};

// The residual stream between two blocks, of all groups (TokenLayout::Join), and the first norm of
// the next block where the last sum has made it already.
struct BlockTokens {
  at::Tensor x;  // [B, S, D]
  Rows normed = {};
};

// A block in its walk.
struct BlockPosition {
  size_t index = 0;
  bool is_perturbed = false;  // the tokens of the last row keep their own values
  bool goes_on = false;       // the next block follows at once: its norm is made with the last sum
};

struct TransformerBlock {
  AttentionLayer self_attention, text_attention;
  FeedForward feed_forward;
  at::Tensor scale_shift_table;  // [6, D]
  double eps = 1e-6;

  // The layers that every token goes through, in 8 bits: those that take rows in FormOf(run).
  void MakeLayersIn(RowForm form);

  //   x = x + gate * attention(norm(x) * (1 + scale) + shift)
  //   x = x + text_attention(x)
  //   x = x + gate * feed_forward(norm(x) * (1 + scale) + shift)
  // All but attention takes the rows of all groups in one call.
  BlockTokens operator()(const Ops& ops, const BlockTokens& tokens, const BlockPosition& at,
                         BlockCall& call) const;
};

// The tensors that a walk alone uses, without codes. What makes a text's keys is not among them,
// nor the table, which the transformer has of all blocks.
void VisitTensors(TransformerBlock& block, const TensorVisitor& visit);

// Reads transformer_blocks.`index`, but for what makes a text's keys and values.
TransformerBlock TakeTransformerBlock(Weights& weights, int64_t index,
                                      const TransformerConfig& config);
// Reads that, of all blocks, which have one input: outputs [N, 2, D] side by side.
Linear TakeTextKeysAndValues(Weights& weights, const TransformerConfig& config);

}  // namespace reel::model::ltx
