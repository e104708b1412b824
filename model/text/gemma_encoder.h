// SPDX-License-Identifier: Apache-2.0
// The text model of Gemma 3 or Gemma 4 as an encoder: the hidden states of every layer, as
// transformers 5.23.0 gives them with its default attention.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/bridge/ops.h"
#include "model/fit_plan.h"
#include "model/layers/layer_ring.h"
#include "model/layers/linear.h"
#include "model/text/gemma_config.h"

namespace reel::model {

// Immutable after loading.
class GemmaEncoder {
 public:
  // Loads the tensors of the text model, with any prefix to their names, or those of GGUF.
  // The parts for pictures and sounds are not read. With a ring the layers stream through it, and
  // the table of embeddings is on the host. In e4m3 linear layers are codes alone, which each use
  // widens.
  static absl::StatusOr<GemmaEncoder> Load(const WeightSet& stored, const GemmaConfig& config,
                                           at::ScalarType dtype, at::Device device,
                                           std::shared_ptr<LayerRing> ring = nullptr,
                                           WeightsForm form = WeightsForm::k16);

  // `ids` [B, n] int64 of texts without padding, the first at `position` of the padded text. Gives
  // the embeddings, what each layer but the last makes, and the last one's behind the final norm:
  // num_layers() + 1 tensors [B, n, width], in the model's type.
  //
  // Padding stands in front and is attended to by nobody, so that leaving it out changes nothing
  // but the order of sums.
  std::vector<at::Tensor> Encode(const Ops& ops, const at::Tensor& ids, int64_t position) const;

  const GemmaConfig& config() const { return config_; }
  at::ScalarType dtype() const { return embedding_.scalar_type(); }
  WeightsForm form() const { return form_; }
  int64_t bytes() const { return bytes_; }
  const StreamableBytes& layer_bytes() const { return blocks_.bytes(); }
  int64_t table_bytes() const { return static_cast<int64_t>(embedding_.nbytes()); }
  int64_t parameters() const { return parameters_; }

 private:
  struct Block {
    // Factors of norms, fp32.
    at::Tensor before_attention, behind_attention, before_feed_forward, behind_feed_forward;
    at::Tensor query_norm, key_norm;  // [head_dim]
    Linear query, key_value, out;     // keys and values side by side, or keys that are both
    Linear gate_up, down;             // gate and value side by side
    at::Tensor scale;                 // [1], of what the block makes; undefined: 1
  };
  // How files have the factors of norms.
  struct Norms {
    double lack = 0;                     // of a weight to the factor
    at::ScalarType stored = at::kFloat;  // what the weight is rounded to
  };
  // What tokens take in layers of one kind.
  struct Places {
    at::Tensor cos, sin;  // [n, head_dim], in the model's type
    at::Tensor bias;      // [1, 1, n, n]: the tokens that a token sees
  };

  explicit GemmaEncoder(const GemmaConfig& config) : config_(config) {}

  static at::Tensor TakeNorm(Weights& weights, const std::string& name, int64_t width,
                             const Norms& norms);
  static Block TakeBlock(Weights& weights, int64_t index, const GemmaConfig& config,
                         const Norms& norms);
  static std::array<Linear*, 5> LinearsOf(Block& block);
  friend void VisitTensors(Block& block, const TensorVisitor& visit);
  Places PlacesOf(const GemmaConfig::Attention& attention, int64_t position, int64_t count,
                  int64_t window) const;
  at::Tensor Norm(const Ops& ops, const at::Tensor& x, const at::Tensor& factor) const;
  at::Tensor Attend(const Ops& ops, int64_t layer, const at::Tensor& x, const Places& places) const;
  at::Tensor FeedForward(const Ops& ops, const Block& block, const at::Tensor& x) const;

  GemmaConfig config_;
  WeightsForm form_ = WeightsForm::k16;
  at::Tensor embedding_;   // [vocab, width]
  at::Tensor final_norm_;  // [width], its factor, fp32
  PlacedLayers<Block> blocks_;
  int64_t bytes_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace reel::model
