// SPDX-License-Identifier: Apache-2.0
// Networks from times to the vectors that modulate a stream's tokens.
#pragma once

#include <string>

#include "model/bridge/ops.h"
#include "model/layers/timestep_embedding.h"
#include "model/ltx2/streams.h"
#include "model/ltx2/transformer_config.h"

namespace reel::model::ltx2 {

// When a stream is, as the transformer is told.
struct StreamTimes {
  at::Tensor own;          // [B, 1 or S] fp32, of its tokens, in 0..1000; with vector_of [M, 1]
  at::Tensor sigma;        // [B] fp32, of its noise as a whole, in 0..1000; may differ from `own`
  at::Tensor other_sigma;  // [B] fp32, of the other stream; undefined: `own` counts instead
  // int32 [B, S]: which of M times each token has. So few times take little memory, however many
  // tokens have them.
  at::Tensor vector_of = {};
  // With vector_of, of those M times, fp32 [M, 1, columns] (Ops::WithAdapters); undefined: none.
  at::Tensor adapters = {};
};

// What all blocks make their vectors of, in the model's type; T is 1 or S, and B is M where tokens
// have one of M times.
struct StreamModulation {
  at::Tensor embedded;    // [B, T, D], for the head
  at::Tensor rows;        // [B, T, 6 or 9, D]
  at::Tensor cross_rows;  // [B, 1 or T, 4, D], towards the other stream
  at::Tensor cross_gate;  // [B, 1 or T, 1, D]
  at::Tensor text_rows;   // [B, 1, 2, D]; undefined where text knows no sigma
  at::Tensor vector_of;   // of the times; undefined: T vectors each
  at::Tensor cross_vector_of;
};

// `vectors` [M, 1, D] to one for each token, [B, S, D]; as they are without `vector_of`.
at::Tensor ForTokens(const at::Tensor& vectors, const at::Tensor& vector_of);

// Of one stream. Immutable after loading.
class TimeNets {
 public:
  static TimeNets Take(Weights& weights, const TransformerConfig& config, Stream stream);

  StreamModulation operator()(const Ops& ops, const StreamTimes& times) const;

 private:
  // A time embedded, and a layer from there to some rows.
  struct Net {
    TimestepEmbedding embedding;
    Linear to_rows;

    at::Tensor Embedded(const Ops& ops, const at::Tensor& times) const;  // [B, T] to [B, T, D]
    at::Tensor Rows(const Ops& ops, const at::Tensor& embedded) const;   // to [B, T, rows, D]
    at::Tensor operator()(const Ops& ops, const at::Tensor& times) const {
      return Rows(ops, Embedded(ops, times));
    }
  };
  static Net TakeNet(Weights& weights, const std::string& name, int64_t width, int64_t rows);

  Net own_, cross_, gate_;
  Net text_;  // without weights where text knows no sigma
  double gate_time_factor_ = 1;
};

}  // namespace reel::model::ltx2
