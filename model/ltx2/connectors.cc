// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/connectors.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/ltx2/text_features.h"

namespace reel::model::ltx2 {
namespace {

constexpr double kConnectorEps = 1e-6;

absl::Status CheckRegisters(const char* stream, const ConnectorConfig& config,
                            int64_t text_tokens) {
  if (text_tokens % config.num_registers == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "bad configuration: the connectors' ", stream, "_connector_num_learnable_registers is ",
      config.num_registers, ", which does not divide the ", text_tokens, " tokens of a text"));
}

// So that features of both streams are as large as their widths want.
double ScaleTo(int64_t width, int64_t caption_channels) {
  return std::sqrt(static_cast<double>(width) / static_cast<double>(caption_channels));
}

}  // namespace

void VisitTensors(Connectors::Block& block, const TensorVisitor& visit) {
  VisitTensors(block.attention, visit);
  VisitTensors(block.feed_forward, visit);
}

Connectors::Connector Connectors::TakeConnector(Weights& weights, const std::string& name,
                                                const ConnectorConfig& config, int64_t text_tokens,
                                                const std::shared_ptr<LayerRing>& ring) const {
  const int64_t width = config.width();
  Connector connector;
  connector.blocks = PlacedLayers<Block>(ring);
  connector.registers = weights.Take(name + ".learnable_registers", {config.num_registers, width});
  if (connector.registers.defined()) {
    connector.registers = connector.registers.repeat({text_tokens / config.num_registers, 1});
  }
  const at::Tensor places = at::arange(text_tokens, at::TensorOptions(at::kFloat));
  connector.table =
      MakeRopeTable((places / config_.rope_base).unsqueeze(0), {.rotation = config_.rotation,
                                                                .num_heads = config.num_heads,
                                                                .head_dim = config.head_dim,
                                                                .theta = config_.rope_theta,
                                                                .in_double = config_.double_rope})
          .To(weights.device());
  const AttentionSizes sizes = {.width = width,
                                .context_width = width,
                                .num_heads = config.num_heads,
                                .head_dim = config.head_dim,
                                .has_gates = config.has_gates,
                                .is_self = true};
  for (int64_t i = 0; i < config.num_layers && weights.ok(); ++i) {
    const std::string block = absl::StrCat(name, ".transformer_blocks.", i);
    connector.blocks.Add({TakeAttention(weights, block + ".attn1", sizes),
                          TakeFeedForward(weights, block + ".ff", width)},
                         true);
  }
  return connector;
}

absl::StatusOr<Connectors> Connectors::Load(const WeightSet& stored, const ConnectorsConfig& config,
                                            int64_t text_tokens, at::ScalarType dtype,
                                            at::Device device, std::shared_ptr<LayerRing> ring) {
  REEL_RETURN_IF_ERROR(CheckRegisters("video", config.video, text_tokens));
  REEL_RETURN_IF_ERROR(CheckRegisters("audio", config.audio, text_tokens));
  Weights weights(stored, dtype, device);
  Connectors model(config);
  const int64_t states = config.caption_channels * config.num_states;
  const auto projection = [&](const char* name, int64_t width) {
    return TakeLinear(weights, name, states, width, config.has_projection_bias);
  };
  if (config.projects_each) {
    model.video_projection_ = projection("video_text_proj_in", config.video.width());
    model.audio_projection_ = projection("audio_text_proj_in", config.audio.width());
  } else {
    model.video_projection_ = projection("text_proj_in", config.caption_channels);
  }
  model.video_ = model.TakeConnector(weights, "video_connector", config.video, text_tokens, ring);
  model.audio_ = model.TakeConnector(weights, "audio_connector", config.audio, text_tokens, ring);
  REEL_RETURN_IF_ERROR(weights.Finish());
  model.bytes_ = weights.bytes();
  model.parameters_ = weights.parameters();
  return model;
}

// Registers stand at their own positions of a text, however long the prompt is.
at::Tensor Connectors::Connect(const Ops& ops, const Connector& connector,
                               const at::Tensor& features, int64_t text_tokens) {
  const at::Tensor registers = connector.registers.slice(0, features.size(1), text_tokens);
  const RopeTable table = connector.table.Tokens(0, text_tokens);
  const auto normed = [&](const at::Tensor& t) { return ops.RmsNorm(t, {}, kConnectorEps); };
  at::Tensor x = at::cat({features, registers.unsqueeze(0).expand({features.size(0), -1, -1})}, 1);
  for (size_t i = 0; i < connector.blocks.size(); ++i) {
    const LayerPlaces::Use use(connector.blocks.places(), i, connector.blocks.size(), &ops.run());
    const Block& block = connector.blocks[i];
    x = ops.GateResidual(x, block.attention.OfSelf(ops, {normed(x)}, table), {});
    x = ops.GateResidual(x, block.feed_forward(ops, {normed(x)}), {});
  }
  return normed(x);
}

StreamableBytes Connectors::layer_bytes() const {
  const StreamableBytes &video = video_.blocks.bytes(), &audio = audio_.blocks.bytes();
  return {video.all + audio.all, std::max(video.largest, audio.largest)};
}

bool Connectors::FillsEvenly(int64_t text_tokens) const {
  return text_tokens % config_.video.num_registers == 0 &&
         text_tokens % config_.audio.num_registers == 0;
}

Texts Connectors::OfNoText(const Ops& ops, int64_t text_tokens) const {
  const auto registers = [&](const Connector& connector) {
    const at::Tensor none = connector.registers.slice(0, 0, 0).unsqueeze(0);
    return Connect(ops, connector, none, text_tokens);
  };
  return {registers(video_), registers(audio_)};
}

Texts Connectors::operator()(const Ops& ops, const std::vector<at::Tensor>& states,
                             int64_t text_tokens) const {
  const at::Tensor stacked = at::stack(states, -1);
  if (!config_.projects_each) {
    const at::Tensor features = video_projection_(ops, RangeNorms(stacked));
    return {Connect(ops, video_, features, text_tokens),
            Connect(ops, audio_, features, text_tokens)};
  }
  const at::Tensor norms = TokenNorms(stacked);
  const auto features = [&](const Linear& projection, const ConnectorConfig& to) {
    return projection(ops, norms * ScaleTo(to.width(), config_.caption_channels));
  };
  return {Connect(ops, video_, features(video_projection_, config_.video), text_tokens),
          Connect(ops, audio_, features(audio_projection_, config_.audio), text_tokens)};
}

}  // namespace reel::model::ltx2
