// SPDX-License-Identifier: Apache-2.0
// An attention of LTX-2, of the connectors and the transformer alike: rms norms of queries and keys
// over all heads, channels turned by place, and a gate for each head.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/bridge/ops.h"
#include "model/layers/linear.h"
#include "model/tokens/rank_tokens.h"

namespace reel::model::ltx2 {

struct AttentionSizes {
  int64_t width;          // of the queries' stream
  int64_t context_width;  // of the stream that keys and values are made of
  int64_t num_heads, head_dim;
  bool has_gates;
  bool is_self;  // keys are the queries' own tokens
};

// Of queries and of keys; null: they are not turned.
struct Tables {
  const RopeTable* queries = nullptr;
  const RopeTable* keys = nullptr;
};

// The tokens that queries attend to in cross attention.
struct AttentionContext {
  Rows rows;  // [B, L, context_width], which keys and values are made of
  Tables tables = {};
  at::Tensor bias = {};  // added to the scores; or undefined
  // On a group that divides the rows among its ranks, `rows` has this rank's part. Queries attend
  // to the rows of all ranks.
  RankTokens ranks = {};
};

// The bias of a key that does not count. Its exponential is 0 in every type, and unlike minus
// infinity it makes no NaN in a kernel that meets a whole tile of such keys.
inline constexpr double kUnseen = -10'000;

// A bias of self attention: added to the scores of the queries `first` to `first + count`.
struct QueryBias {
  int64_t first = 0, count = 0;
  at::Tensor bias;  // [1 or B, 1, 1 or count, keys]
};

struct AttentionLayer {
  Linear to_qkv;       // of self attention: one product for all three
  Linear to_q, to_kv;  // of others
  Linear to_out;
  Linear to_gates;            // one logit for each head; without weight: no gates
  at::Tensor norm_q, norm_k;  // [heads * head_dim]
  int64_t num_heads = 0;
  bool allows_8_bits = false;  // of queries, keys, weights and values, where a profile asks for it

  // In which form a norm writes what this attention takes: x, which gates read too, and the
  // context.
  RowNeeds QueryForm(const Ops& ops) const;
  RowNeeds ContextForm(const Ops& ops) const { return to_kv.NeedsIn(ops); }

  // The tokens x [B, S, width] attend to each other; `ranks` as in AttentionContext. `bias` is
  // empty or covers all queries in order, and each entry takes one call of the attention kernel.
  // Here and below plain rows are as good as those of QueryForm and ContextForm.
  at::Tensor OfSelf(const Ops& ops, const Rows& x, const RopeTable& table,
                    const std::vector<QueryBias>& bias = {}, const RankTokens& ranks = {}) const;
  at::Tensor OfContext(const Ops& ops, const Rows& x, const AttentionContext& context) const;
  // Of self attention when it is left out: each token takes its own value.
  at::Tensor OfValues(const Ops& ops, const Rows& x) const;

  // Adds layers in 8 bits as far as their sizes suit. Of x: to queries, and of self attention to
  // all three, and from heads to outputs. Of the context: to keys and values.
  void MakeQueryLayersIn(RowForm form);
  void MakeContextLayerIn(RowForm form);

 private:
  bool is_self() const { return to_qkv.defined(); }
  struct Projected {
    at::Tensor q, k, v;
  };
  Projected Placed(const Ops& ops, const Projected& of, const Tables& tables,
                   const RankTokens& ranks) const;
  at::Tensor HeadsOfSelf(const Ops& ops, const Projected& of, const RopeTable& table,
                         const std::vector<QueryBias>& bias, const RankTokens& ranks) const;
  at::Tensor HeadsOfContext(const Ops& ops, const Projected& of,
                            const AttentionContext& context) const;
  // Gates of x, and the last projection.
  at::Tensor Out(const Ops& ops, const at::Tensor& heads, const Rows& x) const;
};

// Without codes.
void VisitTensors(AttentionLayer& layer, const TensorVisitor& visit);

AttentionLayer TakeAttention(Weights& weights, const std::string& name,
                             const AttentionSizes& sizes);

}  // namespace reel::model::ltx2
