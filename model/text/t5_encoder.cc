// SPDX-License-Identifier: Apache-2.0
#include "model/text/t5_encoder.h"

#include <cmath>
#include <limits>

#include "kernels/base/status_macros.h"
#include "model/bridge/attention_ops.h"
#include "model/bridge/upload.h"
#include "model/text/gguf_names.h"
#include "model/weights/config_reader.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr IntRange kWidths = {1, 65536};

// The bucket of each key seen from each query, [S, S] int64. Near distances have their own; far
// ones share by logarithm.
at::Tensor Buckets(int64_t length, int64_t num_buckets, int64_t max_distance) {
  const at::Tensor position = at::arange(length, at::TensorOptions(at::kLong));
  const at::Tensor relative = position.unsqueeze(0) - position.unsqueeze(1);  // key - query
  const int64_t half = num_buckets / 2;
  const int64_t exact = half / 2;
  const at::Tensor distance = relative.abs();
  const at::Tensor far =
      (at::log(distance.to(at::kFloat) / exact) /
       std::log(static_cast<double>(max_distance) / static_cast<double>(exact)) * (half - exact))
          .to(at::kLong) +
      exact;
  const at::Tensor bucket =
      at::where(distance < exact, distance, at::minimum(far, at::full_like(far, half - 1)));
  return (relative > 0).to(at::kLong) * half + bucket;
}

double LowestOf(at::ScalarType type) {
  if (type == at::kHalf) return -65504.0;
  if (type == at::kBFloat16) return -3.3895313892515355e38;
  return -static_cast<double>(std::numeric_limits<float>::max());
}

// fp16 only: keeps the residual stream finite.
at::Tensor Clamped(const at::Tensor& x) {
  if (x.scalar_type() != at::kHalf) return x;
  const double most = 65504.0;
  const bool overflowed = at::isfinite(x).logical_not().any().item<bool>();
  const double limit = overflowed ? most - 1000 : most;
  return x.clamp(-limit, limit);
}

}  // namespace

absl::StatusOr<T5Config> ReadT5Config(const nlohmann::json& json, const std::string& source) {
  ConfigReader reader(json, source);
  T5Config config;
  config.vocab_size = reader.Int("vocab_size", config.vocab_size, {3, 10'000'000});
  config.width = reader.Int("d_model", config.width, kWidths);
  config.head_dim = reader.Int("d_kv", config.head_dim, {1, 4096});
  config.num_heads = reader.Int("num_heads", config.num_heads, {1, 1024});
  config.feed_forward = reader.Int("d_ff", config.feed_forward, {1, 1 << 20});
  config.num_layers = reader.Int("num_layers", config.num_layers, {1, 1024});
  config.num_buckets = reader.Int("relative_attention_num_buckets", config.num_buckets, {4, 4096});
  config.max_distance =
      reader.Int("relative_attention_max_distance", config.max_distance, {2, 1 << 20});
  config.eps = reader.Number("layer_norm_epsilon", config.eps);
  reader.Only("feed_forward_proj", "gated-gelu");
  if (config.max_distance <= config.num_buckets / 4) {
    reader.Fail("relative_attention_max_distance", "must be above a quarter of the buckets");
  }
  REEL_RETURN_IF_ERROR(reader.status());
  return config;
}

T5Encoder::Block T5Encoder::TakeBlock(Weights& weights, int64_t index, const T5Config& config) {
  const std::string attention = "encoder.block." + std::to_string(index) + ".layer.0.";
  const std::string feed_forward = "encoder.block." + std::to_string(index) + ".layer.1.";
  const std::string dense = feed_forward + "DenseReluDense.";
  const int64_t inner = config.num_heads * config.head_dim;
  Block block;
  block.attention_norm = weights.Take(attention + "layer_norm.weight", {config.width});
  const std::string projection = attention + "SelfAttention.";
  block.qkv = TakeLinears(weights, {projection + "q", projection + "k", projection + "v"},
                          config.width, inner, false);
  block.o = TakeLinear(weights, attention + "SelfAttention.o", inner, config.width, false);
  block.feed_forward_norm = weights.Take(feed_forward + "layer_norm.weight", {config.width});
  block.gated = TakeLinears(weights, {dense + "wi_0", dense + "wi_1"}, config.width,
                            config.feed_forward, false);
  if (weights.dtype() == at::kHalf) {
    // This one stays fp32: in fp16 its product overflows.
    block.out.weight =
        weights.TakeAs(dense + "wo.weight", {config.width, config.feed_forward}, at::kFloat);
  } else {
    block.out = TakeLinear(weights, dense + "wo", config.feed_forward, config.width, false);
  }
  return block;
}

std::array<Linear*, 4> T5Encoder::LinearsOf(Block& block) {
  return {&block.qkv, &block.o, &block.gated, &block.out};
}

void VisitTensors(T5Encoder::Block& block, const TensorVisitor& visit) {
  VisitIfDefined(block.attention_norm, visit);
  VisitIfDefined(block.feed_forward_norm, visit);
  for (Linear* layer : T5Encoder::LinearsOf(block)) VisitTensors(*layer, visit);
}

absl::StatusOr<T5Encoder> T5Encoder::Load(const WeightSet& stored, const T5Config& config,
                                          at::ScalarType dtype, at::Device device,
                                          std::shared_ptr<LayerRing> ring, WeightsForm form) {
  if (HasGgufNames(stored)) {
    REEL_ASSIGN_OR_RETURN(const WeightSet renamed, T5OfGguf(stored));
    return Load(renamed, config, dtype, device, std::move(ring), form);
  }
  Weights weights(stored, dtype, device);
  T5Encoder model(config);
  // The table has two names; a file may hold either or both.
  const std::string alias = "encoder.embed_tokens.weight";
  const bool has_shared = weights.Has("shared.weight");
  model.embedding_ =
      weights.Take(has_shared ? "shared.weight" : alias, {config.vocab_size, config.width});
  weights.Skip(alias);
  model.relative_bias_ =
      weights.Take("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                   {config.num_buckets, config.num_heads});
  model.final_norm_ = weights.Take("encoder.final_layer_norm.weight", {config.width});
  model.form_ = form;
  model.blocks_ = PlacedLayers<Block>(ring);
  if (ring != nullptr && weights.ok()) model.embedding_ = model.embedding_.to(at::kCPU);
  const int64_t around = weights.bytes();
  weights.HoldCodes(form == WeightsForm::kE4m3);
  for (int64_t i = 0; i < config.num_layers && weights.ok(); ++i) {
    Block block = TakeBlock(weights, i, config);
    if (weights.holds_codes() && weights.ok()) {
      // What has no type to go back to stays as it is.
      for (Linear* layer : LinearsOf(block)) {
        if (layer->replaced) layer->MakeE4m3();
      }
    }
    model.blocks_.Add(std::move(block), true);
  }
  REEL_RETURN_IF_ERROR(weights.Finish());
  model.bytes_ = weights.holds_codes() ? around + model.blocks_.bytes().all : weights.bytes();
  model.parameters_ = weights.parameters();
  return model;
}

at::Tensor T5Encoder::PositionBias(int64_t length) const {
  const at::Tensor buckets = Buckets(length, config_.num_buckets, config_.max_distance);
  const at::Tensor values = at::embedding(relative_bias_, Upload(buckets, relative_bias_.device()));
  return values.permute({2, 0, 1}).unsqueeze(0).contiguous();
}

at::Tensor T5Encoder::Attend(const Ops& ops, const Block& block, const at::Tensor& x,
                             const at::Tensor& bias) const {
  const auto heads = [this](const at::Tensor& t) {
    return t.unflatten(2, {config_.num_heads, config_.head_dim});
  };
  const std::vector<at::Tensor> qkv = block.qkv(ops, x).unflatten(2, {3, -1}).unbind(2);
  const at::Tensor y = Attention(ops, heads(qkv[0]), heads(qkv[1]), heads(qkv[2]), bias, 1.0);
  return block.o(ops, y.flatten(2, 3));
}

at::Tensor T5Encoder::FeedForward(const Ops& ops, const Block& block, const at::Tensor& x) const {
  const std::vector<at::Tensor> gated = block.gated(ops, x).unflatten(2, {2, -1}).unbind(2);
  const at::Tensor y = ops.GatedGelu(gated[0], gated[1]);
  return block.out(ops, y.to(block.out.type()));
}

at::Tensor T5Encoder::Encode(const Ops& ops, const at::Tensor& ids, const at::Tensor& mask) const {
  const at::Device device = final_norm_.device();
  const at::Tensor embedded = at::embedding(embedding_, Upload(ids, embedding_.device()));
  at::Tensor x = Upload(embedded, device);  // [B, S, width]
  at::Tensor bias = PositionBias(ids.size(1));
  if (mask.defined() && !(mask != 0).all().item<bool>()) {
    const at::Tensor keep =
        Upload((mask != 0).unsqueeze(1).unsqueeze(1), bias.device());  // [B, 1, 1, S]
    bias = at::where(keep, bias, at::scalar_tensor(LowestOf(bias.scalar_type()), bias.options()));
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const LayerPlaces::Use use(blocks_.places(), i, blocks_.size(), &ops.run());
    const Block& block = blocks_[i];
    at::Tensor h = ops.RmsNormRoundedFirst(x, block.attention_norm, config_.eps);
    x = Clamped(x + Attend(ops, block, h, bias));
    h = ops.RmsNormRoundedFirst(x, block.feed_forward_norm, config_.eps);
    x = Clamped(x + FeedForward(ops, block, h));
  }
  return ops.RmsNormRoundedFirst(x, final_norm_, config_.eps);
}

}  // namespace reel::model
