// SPDX-License-Identifier: Apache-2.0
// From the text encoder's hidden states to the texts of both streams: LTX2TextConnectors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/layers/feed_forward.h"
#include "model/layers/layer_ring.h"
#include "model/layers/linear.h"
#include "model/ltx2/attention_layer.h"
#include "model/ltx2/connectors_config.h"
#include "model/ltx2/rope.h"

namespace reel::model::ltx2 {

// Of both streams, [B, L, width of the connector], in the model's type. All tokens count: where a
// prompt has none, learned registers stand.
struct Texts {
  at::Tensor video, audio;
};

// Immutable after loading.
class Connectors {
 public:
  // `text_tokens`: the most that a text has. With a ring the blocks stream through it.
  // FAILED_PRECONDITION unless registers fill it evenly.
  static absl::StatusOr<Connectors> Load(const WeightSet& stored, const ConnectorsConfig& config,
                                         int64_t text_tokens, at::ScalarType dtype,
                                         at::Device device,
                                         std::shared_ptr<LayerRing> ring = nullptr);

  // `states`: what GemmaEncoder::Encode gives, each [B, n, C], of tokens that count alone; n is at
  // most L, which FillsEvenly takes.
  Texts operator()(const Ops& ops, const std::vector<at::Tensor>& states,
                   int64_t text_tokens) const;
  // The result for an empty text: only registers.
  Texts OfNoText(const Ops& ops, int64_t text_tokens) const;
  // Whether the registers of both streams fill so many tokens evenly.
  bool FillsEvenly(int64_t text_tokens) const;

  const ConnectorsConfig& config() const { return config_; }
  int64_t bytes() const { return bytes_; }
  StreamableBytes layer_bytes() const;
  int64_t parameters() const { return parameters_; }

 private:
  struct Block {
    AttentionLayer attention;
    FeedForward feed_forward;
  };
  struct Connector {
    at::Tensor registers;  // [most of a text, width]: as often as they fit
    RopeTable table;       // of as many tokens
    PlacedLayers<Block> blocks;
  };

  explicit Connectors(const ConnectorsConfig& config) : config_(config) {}

  friend void VisitTensors(Block& block, const TensorVisitor& visit);
  Connector TakeConnector(Weights& weights, const std::string& name, const ConnectorConfig& config,
                          int64_t text_tokens, const std::shared_ptr<LayerRing>& ring) const;
  static at::Tensor Connect(const Ops& ops, const Connector& connector, const at::Tensor& features,
                            int64_t text_tokens);

  ConnectorsConfig config_;
  Linear video_projection_, audio_projection_;  // 2.0 has the video's alone, for both
  Connector video_, audio_;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model::ltx2
