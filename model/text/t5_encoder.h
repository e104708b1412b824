// SPDX-License-Identifier: Apache-2.0
// T5 v1.1's encoder, as transformers 5.23.0 runs it with its default attention.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/fit_plan.h"
#include "model/layers/layer_ring.h"
#include "model/layers/linear.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model {

// Defaults are those of T5 v1.1 XXL, as LTX-Video ships it.
struct T5Config {
  int64_t vocab_size = 32128;
  int64_t width = 4096;
  int64_t head_dim = 64;
  int64_t num_heads = 64;
  int64_t feed_forward = 10240;
  int64_t num_layers = 24;
  int64_t num_buckets = 32;
  int64_t max_distance = 128;
  double eps = 1e-6;
};

absl::StatusOr<T5Config> ReadT5Config(const nlohmann::json& json, const std::string& source);

// Immutable after loading.
class T5Encoder {
 public:
  // Takes the names of transformers or of GGUF. With a ring the layers stream through it, and the
  // table of embeddings is on the host. In e4m3 linear layers are codes alone, which each use
  // widens.
  static absl::StatusOr<T5Encoder> Load(const WeightSet& stored, const T5Config& config,
                                        at::ScalarType dtype, at::Device device,
                                        std::shared_ptr<LayerRing> ring = nullptr,
                                        WeightsForm form = WeightsForm::k16);

  // `ids` [B, S] int64 below vocab_size; `mask` [B, S], or undefined: padding is attended to. Gives
  // [B, S, width] in the model's type.
  at::Tensor Encode(const Ops& ops, const at::Tensor& ids, const at::Tensor& mask) const;

  // Those that Encode calls: plans that choose alike for them give the same embeddings.
  static constexpr std::array<std::string_view, 4> kOperators = {"attention", "gated_activation",
                                                                 "linear", "rms_norm"};

  const T5Config& config() const { return config_; }
  at::ScalarType dtype() const { return embedding_.scalar_type(); }
  WeightsForm form() const { return form_; }
  int64_t bytes() const { return bytes_; }
  const StreamableBytes& layer_bytes() const { return blocks_.bytes(); }
  int64_t table_bytes() const { return static_cast<int64_t>(embedding_.nbytes()); }
  int64_t parameters() const { return parameters_; }

 private:
  struct Block {
    at::Tensor attention_norm, feed_forward_norm;  // [width]
    Linear qkv, o;                                 // queries, keys and values side by side
    Linear gated, out;  // wi_0 and wi_1, gate and value, side by side; wo
  };

  explicit T5Encoder(const T5Config& config) : config_(config) {}

  static Block TakeBlock(Weights& weights, int64_t index, const T5Config& config);
  static std::array<Linear*, 4> LinearsOf(Block& block);
  friend void VisitTensors(Block& block, const TensorVisitor& visit);
  at::Tensor PositionBias(int64_t length) const;  // [1, N, S, S]
  at::Tensor Attend(const Ops& ops, const Block& block, const at::Tensor& x,
                    const at::Tensor& bias) const;
  at::Tensor FeedForward(const Ops& ops, const Block& block, const at::Tensor& x) const;

  T5Config config_;
  WeightsForm form_ = WeightsForm::k16;
  at::Tensor embedding_;      // [vocab, width]
  at::Tensor relative_bias_;  // [buckets, N]
  at::Tensor final_norm_;     // [width]
  PlacedLayers<Block> blocks_;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model
