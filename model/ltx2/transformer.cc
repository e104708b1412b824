// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/transformer.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/int8_rows/int8_rows.h"
#include "model/bridge/row_ops.h"
#include "model/bridge/torch_guard.h"

namespace reel::model::ltx2 {
namespace {

constexpr double kHeadEps = 1e-6;

// 0 for what counts, in the model's type.
at::Tensor BiasOf(const at::Tensor& mask, at::ScalarType dtype) {
  return (1 - mask.to(dtype)) * kUnseen;
}

StreamCall CallOf(const Ops& ops, const TimeNets& time_nets, const StreamInputs& inputs) {
  return {time_nets(ops, inputs.times), inputs.text, inputs.tables, inputs.self_bias, inputs.ranks};
}

}  // namespace

bool TakesLayersIn(const TransformerConfig& config, RowForm form) {
  const int64_t sides = form == RowForm::kInt8 ? kernels::kTurnedTogether : kE4m3Sides;
  return config.num_layers > 2 && config.video.width() % sides == 0;
}

Transformer::StreamEnds Transformer::TakeEnds(Weights& weights, const TransformerConfig& config,
                                              Stream stream) {
  const StreamConfig& own = stream == Stream::kVideo ? config.video : config.audio;
  const std::string prefix = PrefixOf(stream);
  StreamEnds ends;
  ends.proj_in = TakeLinear(weights, prefix + "proj_in", own.channels, own.width());
  ends.proj_out = TakeLinear(weights, prefix + "proj_out", own.width(), own.channels);
  if (config.projects_captions) {
    const std::string caption = prefix + "caption_projection.linear_";
    ends.caption_1 = TakeLinear(weights, caption + "1", config.caption_channels, own.width());
    ends.caption_2 = TakeLinear(weights, caption + "2", own.width(), own.width());
  }
  ends.time_nets = TimeNets::Take(weights, config, stream);
  ends.table = weights.Take(prefix + "scale_shift_table", {2, own.width()});
  return ends;
}

absl::StatusOr<Transformer> Transformer::Load(const WeightSet& stored,
                                              const TransformerConfig& config, at::ScalarType dtype,
                                              at::Device device, const FittedLoad& fitted,
                                              const LoadExtras& extras) {
  Weights weights(stored, dtype, device, extras.shared, extras.room);
  Transformer model(config);
  model.video_ = TakeEnds(weights, config, Stream::kVideo);
  model.audio_ = TakeEnds(weights, config, Stream::kAudio);
  if (config.marks_keyframes) {
    model.keyframe_embedding_ =
        weights.Take("keyframes_abs_pos_embedding", {1, config.video.width()});
  }
  model.form_ = fitted.form();
  if (model.form_ == WeightsForm::kE4m3) {
    if (!TakesLayersIn(config, RowForm::kE4m3)) return model.DoesNotSuit();
    weights.HoldCodes(true);
  }
  const int64_t around = weights.bytes();
  model.blocks_ = PlacedLayers<TransformerBlock>(fitted.block_ring());
  for (int64_t i = 0; i < config.num_layers && weights.ok(); ++i) {
    TransformerBlock block = TakeTransformerBlock(weights, i, config);
    const bool is_inner = i > 0 && i + 1 < config.num_layers;
    block.video.self_attention.allows_8_bits = is_inner;
    if (is_inner && weights.holds_codes() && weights.ok()) block.MakeLayersIn(RowForm::kE4m3);
    model.blocks_.Add(std::move(block), fitted.Streams(static_cast<int>(i)));
  }
  REEL_RETURN_IF_ERROR(weights.Finish());
  model.has_e4m3_ = weights.holds_codes();
  model.bytes_ = weights.holds_codes() ? around + model.blocks_.bytes().all : weights.bytes();
  model.parameters_ = weights.parameters();
  return model;
}

absl::Status Transformer::DoesNotSuit() const {
  return absl::FailedPreconditionError(
      absl::StrCat("the transformer does not suit products in 8 bits: its width is ",
                   config_.video.width(), ", its blocks ", config_.num_layers));
}

absl::Status Transformer::MakeLayersIn(RowForm form) {
  if (form_ == WeightsForm::kE4m3) return NoOtherCodes();
  if (blocks_.places().streams()) {
    return absl::FailedPreconditionError(
        "products in 8 bits need all blocks on the device; here some are streamed");
  }
  if (!TakesLayersIn(config_, form)) return DoesNotSuit();
  for (size_t i = 1; i + 1 < blocks_.size(); ++i) blocks_[i].MakeLayersIn(form);
  (form == RowForm::kInt8 ? has_int8_ : has_e4m3_) = true;
  return absl::OkStatus();
}

TextContext Transformer::Prepare(const Ops& ops, Stream stream, const at::Tensor& embeddings,
                                 const at::Tensor& mask) const {
  const StreamEnds& ends = stream == Stream::kVideo ? video_ : audio_;
  TextContext text = {embeddings.to(dtype()), {}};
  if (config_.projects_captions) {
    text.tokens = ends.caption_2(ops, ops.GeluTanh(ends.caption_1(ops, text.tokens)));
  }
  if (mask.defined()) text.bias = BiasOf(mask, dtype()).unsqueeze(1).unsqueeze(1);
  return text;
}

std::vector<QueryBias> Transformer::SelfBias(const at::Tensor& mask) const {
  return {{0, mask.size(1), BiasOf(mask, dtype()).unsqueeze(1)}};
}

// The head takes the embedded times themselves, not the rows that are made of them.
at::Tensor Transformer::Head(const Ops& ops, const StreamEnds& ends, const at::Tensor& x,
                             const StreamModulation& modulation) {
  const std::vector<at::Tensor> rows = (ends.table + modulation.embedded.unsqueeze(2)).unbind(2);
  const at::Tensor scale = ForTokens(rows[1], modulation.vector_of);
  const at::Tensor shift = ForTokens(rows[0], modulation.vector_of);
  return ends.proj_out(ops, ops.AdalnLayerNorm(x, scale, shift, kHeadEps));
}

StreamTokens Transformer::Velocity(const Ops& ops, const VelocityInputs& inputs) const {
  BlockWalk walk = Begin(ops, inputs);
  while (!walk.done()) walk.Next(ops);
  return End(ops, walk);
}

BlockWalk Transformer::Begin(const Ops& plain, const VelocityInputs& inputs) const {
  const Ops ops = plain.WithAdapters(inputs.adapters);
  if (!HasLayersIn(FormOf(ops.run()))) {
    ThrowIfError(absl::FailedPreconditionError("the transformer's layers were not made in 8 bits"));
  }
  StreamTokens tokens = {video_.proj_in(ops, inputs.video.x), audio_.proj_in(ops, inputs.audio.x)};
  if (keyframe_embedding_.defined() && inputs.video.keyframes.defined()) {
    const at::Tensor marks = (inputs.video.keyframes > 0).to(dtype());
    tokens.video = tokens.video + marks * keyframe_embedding_;
  }
  return BeginAt(plain, inputs, {std::move(tokens), 0});
}

BlockWalk Transformer::BeginAt(const Ops& plain, const VelocityInputs& inputs,
                               TokensAt from) const {
  const Ops ops = plain.WithAdapters(inputs.adapters);
  return {blocks_,
          {CallOf(ops, video_.time_nets, inputs.video), CallOf(ops, audio_.time_nets, inputs.audio),
           inputs.is_isolated, inputs.adapters},
          std::move(from),
          config_.perturbs ? inputs.perturbed_blocks : std::vector<int64_t>()};
}

StreamTokens Transformer::End(const Ops& plain, const BlockWalk& walk) const {
  const Ops ops = plain.WithAdapters(walk.call().adapters);
  return {Head(ops, video_, walk.tokens().video, walk.call().video.modulation),
          Head(ops, audio_, walk.tokens().audio, walk.call().audio.modulation)};
}

}  // namespace reel::model::ltx2
