// SPDX-License-Identifier: Apache-2.0
// One block of the transformer: self-attention, attention to the text, feed-forward.
#pragma once

#include <string>
#include <vector>

#include "model/bridge/attention_ops.h"
#include "model/layers/linear.h"
#include "model/ltx/transformer_config.h"

namespace reel::model {
class PackedRows;
struct TokenPart;
}  // namespace reel::model

namespace reel::model::ltx {

// Projections of one attention. Query and key norms span all heads.
struct AttentionLayer {
  Linear to_qkv;  // of its own tokens: one product for all three
  Linear to_q;    // where the keys are the prompt's, which the transformer makes for all blocks
  Linear to_out;
  at::Tensor norm_q, norm_k;  // [D]
  int64_t num_heads = 0;
  bool of_text = false;  // its keys are the prompt's

  // Of x [B, S, D]: queries [B, S, D], normed.
  at::Tensor Query(const Ops& ops, const at::Tensor& x) const;
  // Of what a prompt's keys are made of, [B, L, D].
  at::Tensor NormedKey(const Ops& ops, const at::Tensor& k) const;
  // q, k, v [B, *, D]; the mask is a text's. Before the last projection.
  at::Tensor Heads(const Ops& ops, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                   const KeyMask& mask) const;
};

// What attention to the text needs of it: the same at every step. Of one block, or with the blocks
// as a dimension in front.
struct TextKeys {
  at::Tensor k, v;  // [A, L, D], of the rows that ask
  at::Tensor only;  // [B - A, 1, D]: the answers of the others; undefined: all ask
};

// Of a group: queries [A, S, D], and the text that they are put to, its mask borrowed.
struct TextQuestion {
  at::Tensor q;
  TextKeys keys;
  const KeyMask& mask;
};

// The residual stream between two blocks, of all groups of clips of one size together
// (PackedRows), and what the next one begins with where it is made already.
struct BlockInput {
  at::Tensor x;      // [B, S, D]
  Rows normed = {};  // its norm, modulated
};

// Of a group: whom its tokens look at.
struct TokenGroup {
  bool is_perturbed = false;  // the last of the batch attends to nothing but itself
  // Where its tokens are those of one rank of several, which tokens look at; null: they are all.
  TokenPart* part = nullptr;
};

// Of a block and all its rows.
struct BlockContext {
  const RopeTable& rope;
  // [B, 1, 6, D]: shift, scale and gate of the attention, then of the feed-forward; with
  // `vector_of`, int32 [B, S], [M, 1, 6, D], of which each token takes that which it is told.
  at::Tensor modulation;
  // That of the block behind, whose first norm is then made with the sum, in one pass; undefined:
  // it is not.
  at::Tensor next = {};
  at::Tensor vector_of = {};
};

struct TransformerBlock {
  AttentionLayer self_attention, text_attention;
  Linear expand, contract;       // feed-forward
  at::Tensor scale_shift_table;  // [6, D]
  double eps = 1e-6;

  // Of the layers that take their rows in FormOf(run), all that every token goes through: in codes.
  void MakeLayersIn(RowForm form);
  // All but attention sees the rows of all groups in one call. First the tokens of each of `groups`
  // look at each other, then at the text.
  at::Tensor AttendSelf(const Ops& ops, const BlockInput& input, const PackedRows& rows,
                        const std::vector<TokenGroup>& groups, const BlockContext& context) const;
  // What texts say to queries, text_attention.Query(x): the same for all rows with the same x.
  std::vector<at::Tensor> Ask(const Ops& ops, const std::vector<TextQuestion>& questions) const;
  // What x makes of its texts' answers, in parts of neighbouring rows, and of the feed-forward of
  // both.
  BlockInput Feed(const Ops& ops, const at::Tensor& x, const std::vector<at::Tensor>& answers,
                  const BlockContext& context) const;
};

// Reads transformer_blocks.`index`, but for what makes a text's keys and values.
TransformerBlock TakeTransformerBlock(Weights& weights, int64_t index,
                                      const TransformerConfig& config);
// Reads that, of all blocks, which have one input: outputs [N, 2, D] side by side.
Linear TakeTextKeysAndValues(Weights& weights, const TransformerConfig& config);

}  // namespace reel::model::ltx
