// SPDX-License-Identifier: Apache-2.0
// Types and the order of operations are the reference's.
#include "model/text/gemma_encoder.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/attention_ops.h"
#include "model/bridge/upload.h"
#include "model/text/gguf_names.h"

namespace reel::model {
namespace {

// What stands before the text model's names in files of several generations.
constexpr std::string_view kPrefixes[] = {"language_model.model.", "model.language_model."};
constexpr std::string_view kAlone = "model.";

std::optional<std::string> NameInTextModel(const std::string& name) {
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  // The text model alone, as Lightricks' file of the encoder has it.
  for (const std::string_view own : {"model.layers.", "model.embed_tokens.", "model.norm."}) {
    if (name.starts_with(own)) return name.substr(kAlone.size());
  }
  return std::nullopt;
}

absl::StatusOr<WeightSet> TextModelOf(const WeightSet& stored, const GemmaConfig& config) {
  return HasGgufNames(stored) ? GemmaOfGguf(stored, config) : stored.Renamed(NameInTextModel);
}

// x cos + (the halves of x, exchanged, the second negative) sin.
at::Tensor Turned(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const std::vector<at::Tensor> halves = x.chunk(2, -1);
  return x * cos + at::cat({-halves[1], halves[0]}, -1) * sin;
}

}  // namespace

at::Tensor GemmaEncoder::TakeNorm(Weights& weights, const std::string& name, int64_t width,
                                  const Norms& norms) {
  const at::Tensor weight = weights.TakeAs(name + ".weight", {width}, norms.stored);
  return weight.defined() ? weight.to(at::kFloat) + norms.lack : weight;
}

GemmaEncoder::Block GemmaEncoder::TakeBlock(Weights& weights, int64_t index,
                                            const GemmaConfig& config, const Norms& norms) {
  const std::string layer = absl::StrCat("layers.", index, ".");
  const std::string attention = layer + "self_attn.", mlp = layer + "mlp.";
  const GemmaConfig::Attention& heads = config.attention(index);
  const int64_t width = config.width, queries = config.num_heads * heads.head_dim;
  Block block;
  block.before_attention = TakeNorm(weights, layer + "input_layernorm", width, norms);
  block.behind_attention = TakeNorm(weights, layer + "post_attention_layernorm", width, norms);
  block.before_feed_forward = TakeNorm(weights, layer + "pre_feedforward_layernorm", width, norms);
  block.behind_feed_forward = TakeNorm(weights, layer + "post_feedforward_layernorm", width, norms);
  block.query_norm = TakeNorm(weights, attention + "q_norm", heads.head_dim, norms);
  block.key_norm = TakeNorm(weights, attention + "k_norm", heads.head_dim, norms);
  block.query = TakeLinear(weights, attention + "q_proj", width, queries, false);
  std::vector<std::string> key_value = {attention + "k_proj"};
  if (!heads.keys_are_values) key_value.push_back(attention + "v_proj");
  block.key_value =
      TakeLinears(weights, key_value, width, heads.num_key_heads * heads.head_dim, false);
  block.out = TakeLinear(weights, attention + "o_proj", queries, width, false);
  block.gate_up =
      TakeLinears(weights, {mlp + "gate_proj", mlp + "up_proj"}, width, config.feed_forward, false);
  block.down = TakeLinear(weights, mlp + "down_proj", config.feed_forward, width, false);
  if (config.scales_layers) block.scale = weights.Take(layer + "layer_scalar", {1});
  return block;
}

std::array<Linear*, 5> GemmaEncoder::LinearsOf(Block& block) {
  return {&block.query, &block.key_value, &block.out, &block.gate_up, &block.down};
}

void VisitTensors(GemmaEncoder::Block& block, const TensorVisitor& visit) {
  for (at::Tensor* norm :
       {&block.before_attention, &block.behind_attention, &block.before_feed_forward,
        &block.behind_feed_forward, &block.query_norm, &block.key_norm}) {
    VisitIfDefined(*norm, visit);
  }
  VisitIfDefined(block.scale, visit);
  for (Linear* layer : GemmaEncoder::LinearsOf(block)) VisitTensors(*layer, visit);
}

absl::StatusOr<GemmaEncoder> GemmaEncoder::Load(const WeightSet& stored, const GemmaConfig& config,
                                                at::ScalarType dtype, at::Device device,
                                                std::shared_ptr<LayerRing> ring, WeightsForm form) {
  REEL_ASSIGN_OR_RETURN(const WeightSet text_model, TextModelOf(stored, config));
  // GGUF has the factors themselves, in fp32.
  const Norms norms = HasGgufNames(stored) ? Norms{.stored = at::kFloat}
                                           : Norms{.lack = config.norms_lack, .stored = dtype};
  Weights weights(text_model, dtype, device);
  GemmaEncoder model(config);
  model.embedding_ = weights.Take("embed_tokens.weight", {config.vocab_size, config.width});
  model.final_norm_ = TakeNorm(weights, "norm", config.width, norms);
  model.form_ = form;
  model.blocks_ = PlacedLayers<Block>(ring);
  if (ring != nullptr && weights.ok()) model.embedding_ = model.embedding_.to(at::kCPU);
  const int64_t around = weights.bytes();
  weights.HoldCodes(form == WeightsForm::kE4m3);
  for (int64_t i = 0; i < config.num_layers() && weights.ok(); ++i) {
    Block block = TakeBlock(weights, i, config, norms);
    if (weights.holds_codes() && weights.ok()) {
      for (Linear* layer : LinearsOf(block)) layer->MakeE4m3();
    }
    model.blocks_.Add(std::move(block), true);
  }
  REEL_RETURN_IF_ERROR(weights.Finish());
  model.bytes_ = weights.holds_codes() ? around + model.blocks_.bytes().all : weights.bytes();
  model.parameters_ = weights.parameters();
  return model;
}

// Angles are made in fp32 whatever the model's type. Channels that do not turn have none.
GemmaEncoder::Places GemmaEncoder::PlacesOf(const GemmaConfig::Attention& attention,
                                            int64_t position, int64_t count, int64_t window) const {
  const auto fp32 = at::TensorOptions(at::kFloat);
  const auto channels = static_cast<double>(attention.head_dim);
  const auto turned = static_cast<int64_t>(std::floor(attention.turned * channels / 2));
  const at::Tensor even = at::arange(0, attention.head_dim, 2, fp32);
  const at::Tensor frequencies =
      1.0 / at::pow(attention.theta, even / channels) / attention.positions_per_step;
  frequencies.slice(0, turned).zero_();
  const at::Tensor positions = at::arange(position, position + count, fp32);
  const at::Tensor angles = (positions.unsqueeze(1) * frequencies).repeat({1, 2});
  const at::Tensor index = at::arange(count, at::TensorOptions(at::kLong));
  const at::Tensor back = index.unsqueeze(1) - index;  // from a token to those before it
  const at::Tensor sees = (back >= 0).logical_and(back < window);
  const double unseen = dtype() == at::kHalf ? -65504.0 : -3.3895313892515355e38;
  const at::Tensor bias = at::zeros({count, count}, fp32).masked_fill(sees.logical_not(), unseen);
  const auto on_device = [this](const at::Tensor& t) {
    return Upload(t.to(dtype()), final_norm_.device());
  };
  return {on_device(angles.cos()), on_device(angles.sin()),
          on_device(bias).unsqueeze(0).unsqueeze(0)};
}

// In fp32, rounded once.
at::Tensor GemmaEncoder::Norm(const Ops& ops, const at::Tensor& x, const at::Tensor& factor) const {
  return ops.RmsNorm(x.to(at::kFloat), factor, config_.eps).to(dtype());
}

at::Tensor GemmaEncoder::Attend(const Ops& ops, int64_t layer, const at::Tensor& x,
                                const Places& places) const {
  const Block& block = blocks_[static_cast<size_t>(layer)];
  const GemmaConfig::Attention& attention = config_.attention(layer);
  const auto heads = [&attention](const at::Tensor& t) {
    return t.unflatten(2, {-1, attention.head_dim}).transpose(1, 2);
  };
  const std::vector<at::Tensor> key_value =
      block.key_value(ops, x).chunk(attention.keys_are_values ? 1 : 2, -1);
  const auto placed = [&](const at::Tensor& t, const at::Tensor& norm) {
    return Turned(Norm(ops, t.contiguous(), norm), places.cos, places.sin);
  };
  const at::Tensor q = placed(heads(block.query(ops, x)), block.query_norm);
  at::Tensor values = heads(key_value.back());
  if (config_.norms_values) values = Norm(ops, values.contiguous(), {});
  // Each key is that of several queries' heads.
  const int64_t share = config_.num_heads / attention.num_key_heads;
  const at::Tensor k =
      placed(heads(key_value.front()), block.key_norm).repeat_interleave(share, /*dim=*/1);
  const at::Tensor v = values.repeat_interleave(share, /*dim=*/1);
  const auto tokens_first = [](const at::Tensor& t) { return t.transpose(1, 2); };
  const at::Tensor y = Attention(ops, tokens_first(q), tokens_first(k), tokens_first(v),
                                 places.bias, config_.score_scale);
  return block.out(ops, y.flatten(2, 3));
}

at::Tensor GemmaEncoder::FeedForward(const Ops& ops, const Block& block,
                                     const at::Tensor& x) const {
  const std::vector<at::Tensor> gate_up = block.gate_up(ops, x).chunk(2, -1);
  return block.down(ops, ops.GeluTanh(gate_up[0].contiguous()) * gate_up[1]);
}

std::vector<at::Tensor> GemmaEncoder::Encode(const Ops& ops, const at::Tensor& ids,
                                             int64_t position) const {
  const int64_t count = ids.size(1);
  const Places all = PlacesOf(config_.full, position, count, std::numeric_limits<int64_t>::max());
  const Places local = PlacesOf(config_.local, position, count, config_.window);
  const at::Tensor embedded =
      Upload(at::embedding(embedding_, Upload(ids, embedding_.device())), final_norm_.device());
  const at::Tensor scale =
      at::scalar_tensor(std::sqrt(static_cast<double>(config_.width)), embedded.options());
  at::Tensor x = embedded * scale;
  std::vector<at::Tensor> states = {x};
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const LayerPlaces::Use use(blocks_.places(), i, blocks_.size(), &ops.run());
    const Block& block = blocks_[i];
    const Places& places = config_.sees_all[i] ? all : local;
    const at::Tensor attended =
        Attend(ops, static_cast<int64_t>(i), Norm(ops, x, block.before_attention), places);
    x = x + Norm(ops, attended, block.behind_attention);
    const at::Tensor fed = FeedForward(ops, block, Norm(ops, x, block.before_feed_forward));
    x = x + Norm(ops, fed, block.behind_feed_forward);
    if (block.scale.defined()) x = x * block.scale;
    states.push_back(x);
  }
  states.back() = Norm(ops, x, final_norm_);
  return states;
}

}  // namespace reel::model
