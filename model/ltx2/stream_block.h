// SPDX-License-Identifier: Apache-2.0
// One stream's half of a block of the transformer.
#pragma once

#include <string>
#include <vector>

#include "model/bridge/ops.h"
#include "model/bridge/row_ops.h"
#include "model/layers/feed_forward.h"
#include "model/ltx2/attention_layer.h"
#include "model/ltx2/rope.h"
#include "model/ltx2/time_nets.h"
#include "model/ltx2/transformer_config.h"

namespace reel::model::ltx2 {

// A prompt as one stream's text attention takes it.
struct TextContext {
  at::Tensor tokens;  // [B, L, D], in the model's type
  at::Tensor bias;    // [B, 1, 1, L], added to the scores; undefined: all tokens count
};

// What a stream's half needs of a call, the same in all blocks.
struct StreamCall {
  StreamModulation modulation;
  TextContext text;
  StreamTables tables;
  std::vector<QueryBias> self_bias;  // of self attention; empty: none
  // Of a group whose ranks divide the stream's tokens; its bias is then of this rank's queries.
  RankTokens ranks = {};
};

// Of one block, its table added to what the times make; [B, 1 or S, D] each, or [M, 1, D] of M
// times.
struct StreamVectors {
  struct ScaleShift {
    at::Tensor scale, shift;
  };
  at::Tensor vector_of, cross_vector_of;  // which of them a token has, as in StreamModulation
  ScaleShift self, feed;
  at::Tensor self_gate, feed_gate;
  ScaleShift query, text;  // of the attention to the text, from 2.3 on; else undefined
  at::Tensor query_gate;
  ScaleShift cross_query, cross_keys;  // of the attentions between the streams
  at::Tensor cross_gate;
};

struct StreamBlock {
  AttentionLayer self_attention, text_attention;
  AttentionLayer cross_attention;  // to the other stream
  FeedForward feed_forward;
  at::Tensor table;        // [6 or 9, D]
  at::Tensor text_table;   // [2, D], from 2.3 on
  at::Tensor cross_table;  // [5, D]
  double eps = 1e-6;
  Stream stream = Stream::kVideo;

  StreamVectors VectorsOf(const StreamModulation& modulation) const;

  // What a layer asks of tokens: norm(x) * (1 + scale) + shift, in its form. Borrowed.
  struct NormFor {
    const StreamVectors::ScaleShift& by;
    const at::Tensor& vector_of;
    RowNeeds needs;
  };
  NormFor ForCross(const Ops& ops, const StreamVectors& vectors) const;
  NormFor ForFeed(const Ops& ops, const StreamVectors& vectors) const;

  // Each gives the sum, and its norm for the layer behind.
  // x + gate * attention(norm(x) * (1 + scale) + shift), for the text's queries. Perturbed: every
  // token keeps its value.
  SumAndRows AddSelfAttention(const Ops& ops, const at::Tensor& x, const StreamVectors& vectors,
                              const StreamCall& call, bool is_perturbed) const;
  // x + gate * attention(query, text * (1 + scale) + shift); in 2.0 x + attention(query, text).
  SumAndRows AddTextAttention(const Ops& ops, const SumAndRows& x, const StreamVectors& vectors,
                              const TextContext& text, const NormFor& next) const;
  // x + gate * attention(query, context), both normed and modulated; for the feed-forward.
  SumAndRows AddCrossAttention(const Ops& ops, const SumAndRows& x, const StreamVectors& vectors,
                               const AttentionContext& context) const;
  // x + gate * feed_forward(norm(x) * (1 + scale) + shift), without a norm.
  at::Tensor AddFeedForward(const Ops& ops, const SumAndRows& x,
                            const StreamVectors& vectors) const;
  at::Tensor Norm(const Ops& ops, const at::Tensor& x) const { return ops.RmsNorm(x, {}, eps); }
  // norm(x) * (1 + scale) + shift
  Rows Norm(const Ops& ops, const at::Tensor& x, const StreamVectors::ScaleShift& by,
            const at::Tensor& vector_of, const RowNeeds& needs) const {
    return AdalnRmsNorm(ops, x, {by.scale, by.shift, eps, vector_of}, needs);
  }

 private:
  struct Gate {
    const at::Tensor &vectors, &vector_of;
  };
  // x + y * gate and its norm, in one pass where both take their vectors alike.
  SumAndRows Add(const Ops& ops, const at::Tensor& x, const at::Tensor& y, const Gate& gate,
                 const NormFor& next) const;
};

// Without codes.
void VisitTensors(StreamBlock& block, const TensorVisitor& visit);

// Reads the half of `block`, "transformer_blocks.0".
StreamBlock TakeStreamBlock(Weights& weights, const std::string& block,
                            const TransformerConfig& config, Stream stream);

}  // namespace reel::model::ltx2
