// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "kernels/int8_rows/int8_rows.h"
#include "model/bridge/row_ops.h"
#include "model/bridge/torch_guard.h"
#include "model/bridge/upload.h"

namespace reel::model::ltx {
namespace {

constexpr double kMasked = -10000;
constexpr double kHeadEps = 1e-6;
constexpr auto kByVideo = TokenLayout::Order::kByVideo;

// How many tokens of each row count, int32 [B] on the host. Undefined if those of a row are not its
// first ones, or none counts.
at::Tensor LengthsOf(const at::Tensor& mask) {
  const at::Tensor counts = mask.to(at::kCPU).ne(0);
  const at::Tensor lengths = counts.sum(1, /*keepdim=*/true);
  const bool are_first = counts.equal(at::arange(counts.size(1)).lt(lengths));
  if (!are_first || lengths.eq(0).any().item<bool>()) return {};
  return lengths.squeeze(1).to(at::kInt);
}

// Tokens behind the last one that counts are dropped, down to a multiple of this, so that texts of
// similar lengths still share calls.
constexpr int64_t kTextTokenStep = 32;
int64_t CountedTokens(const at::Tensor& mask, const at::Tensor& lengths) {
  if (!lengths.defined()) return mask.size(1);
  const int64_t most = lengths.max().item<int32_t>();
  return std::min(mask.size(1), (most + kTextTokenStep - 1) / kTextTokenStep * kTextTokenStep);
}

// The scales of a group's rows, for each of their tokens.
at::Tensor OfTokens(const at::Tensor& scales, int64_t tokens) {
  return scales.expand({-1, tokens, -1});
}

Ops WithJoined(const Ops& ops, const std::vector<at::Tensor>& adapters) {
  return adapters.empty() ? ops : ops.WithAdapters(TokenLayout::Join(adapters));
}

}  // namespace

absl::StatusOr<Transformer> Transformer::Load(const WeightSet& stored,
                                              const TransformerConfig& config, at::ScalarType dtype,
                                              at::Device device, const LoadExtras& extras,
                                              const FittedLoad& fitted) {
  Weights weights(stored, dtype, device, extras.shared, extras.room);
  const int64_t width = config.width();
  Transformer model(config);
  model.proj_in_ = TakeLinear(weights, "proj_in", config.in_channels, width);
  model.proj_out_ = TakeLinear(weights, "proj_out", width, config.out_channels);
  model.caption_1_ =
      TakeLinear(weights, "caption_projection.linear_1", config.caption_channels, width);
  model.caption_2_ = TakeLinear(weights, "caption_projection.linear_2", width, width);
  model.time_embedding_ = TakeTimestepEmbedding(weights, "time_embed.emb", width);
  model.time_rows_ = TakeLinear(weights, "time_embed.linear", width, 6 * width);
  model.scale_shift_table_ = weights.Take("scale_shift_table", {2, width});
  model.form_ = fitted.form();
  const bool holds_codes = model.form_ == WeightsForm::kE4m3;
  if (holds_codes) REEL_RETURN_IF_ERROR(model.CheckSides(RowForm::kE4m3));
  int64_t replaced = 0;  // bytes of weights, less those of their codes
  model.blocks_ = PlacedLayers<TransformerBlock>(fitted.block_ring());
  for (int64_t i = 0; i < config.num_layers && weights.ok(); ++i) {
    const int64_t before = weights.bytes();
    weights.HoldCodes(holds_codes);
    TransformerBlock block = TakeTransformerBlock(weights, i, config);
    weights.HoldCodes(false);
    if (holds_codes && weights.ok()) block.MakeLayersIn(RowForm::kE4m3);
    model.blocks_.Add(std::move(block), fitted.Streams(static_cast<int>(i)));
    replaced += weights.bytes() - before - model.blocks_.bytes().each.back();
  }
  model.has_e4m3_ = holds_codes;
  model.text_keys_ = TakeTextKeysAndValues(weights, config);
  REEL_RETURN_IF_ERROR(weights.Finish());
  std::vector<at::Tensor> tables;
  for (const TransformerBlock& block : model.blocks_) tables.push_back(block.scale_shift_table);
  model.scale_shift_tables_ = at::stack(tables);
  model.bytes_ = weights.bytes() - (holds_codes ? replaced : 0);
  model.parameters_ = weights.parameters();
  return model;
}

absl::Status Transformer::CheckSides(RowForm form) const {
  const bool is_int8 = form == RowForm::kInt8;
  const int64_t sides = is_int8 ? kernels::kTurnedTogether : kE4m3Sides;
  if (config_.width() % sides == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the profile ", is_int8 ? "int8" : "fp8",
                                                    " needs a width that is a multiple of ", sides,
                                                    ", the transformer's is ", config_.width()));
}

absl::Status Transformer::MakeLayersIn(RowForm form) {
  const bool is_int8 = form == RowForm::kInt8;
  if (form_ == WeightsForm::kE4m3) return NoOtherCodes();
  if (blocks_.places().streams()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the profile ", is_int8 ? "int8" : "fp8",
                     " needs all blocks on the device; here some are streamed"));
  }
  REEL_RETURN_IF_ERROR(CheckSides(form));
  for (size_t i = 0; i < blocks_.size(); ++i) blocks_[i].MakeLayersIn(form);
  (is_int8 ? has_int8_ : has_e4m3_) = true;
  return absl::OkStatus();
}

TextContext Transformer::Prepare(const Ops& ops, const at::Tensor& embeddings,
                                 const at::Tensor& whole_mask) const {
  TextContext context;
  const at::Tensor lengths = LengthsOf(whole_mask);
  const int64_t tokens = CountedTokens(whole_mask, lengths);
  const at::Tensor mask = whole_mask.slice(1, 0, tokens);
  const at::Tensor counted = embeddings.slice(1, 0, tokens).to(dtype()).contiguous();
  const at::Tensor text = caption_2_(ops, ops.GeluTanh(caption_1_(ops, counted)));
  for (int64_t row = 0; row < mask.size(0); ++row) {
    context.has_one_key.push_back(lengths.defined() && lengths.data_ptr<int32_t>()[row] == 1);
  }
  const TokenLayout rows(
      {{.rows = {mask.size(0)}, .has_one_key = context.has_one_key, .given = mask.size(0)}},
      kByVideo);
  if (lengths.defined()) context.mask.lengths = Upload(rows.Asking(lengths, 0), text.device());
  const at::Tensor counts = Upload(rows.Asking(mask, 0), text.device()).to(text.scalar_type());
  context.mask.bias = ((1 - counts) * kMasked).unsqueeze(1).unsqueeze(1);
  context.keys = KeysOf(ops, rows.Asking(text, 0), rows.Known(text, 0).slice(1, 0, 1));
  return context;
}

TextKeys Transformer::KeysOf(const Ops& ops, const at::Tensor& asked,
                             const at::Tensor& known) const {
  // From the product [*, L, N * 2 * D] to keys or values [N, *, L, D].
  const auto of_blocks = [this](const at::Tensor& made, int64_t which) {
    return made.unflatten(2, {config_.num_layers, 2, -1}).select(3, which).permute({2, 0, 1, 3});
  };
  const at::Tensor made = text_keys_(ops, asked);
  const std::vector<at::Tensor> k = of_blocks(made, 0).contiguous().unbind();
  std::vector<at::Tensor> normed, only;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    normed.push_back(blocks_[i].text_attention.NormedKey(ops, k[i]));
  }
  TextKeys keys = {at::stack(normed), of_blocks(made, 1).contiguous(), {}};
  if (known.size(0) == 0) return keys;
  const std::vector<at::Tensor> v = of_blocks(text_keys_(ops, known), 1).contiguous().unbind();
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const LayerPlaces::Use use(blocks_.places(), i, blocks_.size(), &ops.run());
    only.push_back(blocks_[i].text_attention.to_out(ops, v[i]));
  }
  keys.only = at::stack(only);
  return keys;
}

TimeRows Transformer::Times(const Ops& ops, const at::Tensor& times) const {
  const at::Tensor embedded = time_embedding_(ops, times);
  return {embedded, time_rows_(ops, at::silu(embedded))};
}

void Transformer::CheckForm(const Ops& ops) const {
  if (!HasLayersIn(FormOf(ops.run()))) {
    ThrowIfError(absl::FailedPreconditionError("the transformer's layers were not made in 8 bits"));
  }
}

at::Tensor Transformer::Velocity(const Ops& ops, const VelocityInputs& inputs) const {
  return Velocities(ops, {&inputs, 1})[0];
}

std::vector<at::Tensor> Transformer::Velocities(const Ops& ops,
                                                absl::Span<const VelocityInputs> groups) const {
  const std::unique_ptr<BlockWalk> walk = Begin(ops, groups);
  walk->Finish(ops);
  return End(ops, *walk);
}

std::unique_ptr<BlockWalk> Transformer::Begin(const Ops& ops,
                                              absl::Span<const VelocityInputs> groups) const {
  CheckForm(ops);
  std::vector<at::Tensor> x, adapters;
  for (const VelocityInputs& inputs : groups) {
    x.push_back(inputs.x);
    if (inputs.adapters.defined()) adapters.push_back(OfTokens(inputs.adapters, inputs.x.size(1)));
  }
  const at::Tensor projected = proj_in_(WithJoined(ops, adapters), TokenLayout::Join(x));
  return std::make_unique<BlockWalk>(blocks_, scale_shift_tables_, groups,
                                     TokenLayout::Order::kAskingFirst, projected,
                                     BlockWalk::Range{0, blocks_.size()});
}

std::vector<at::Tensor> Transformer::End(const Ops& ops, const BlockWalk& walk) const {
  const TokenLayout& layout = walk.layout();
  std::vector<at::Tensor> x, adapters;
  for (size_t i = 0; i < layout.groups(); ++i) {
    const VelocityInputs& inputs = walk.groups()[i];
    x.push_back(HeadRows(ops, inputs, walk.x(i), layout, i));
    if (!inputs.adapters.defined()) continue;
    adapters.push_back(OfTokens(layout.ForAllRows(inputs.adapters, i), layout.tokens(i)));
  }
  const at::Tensor all = proj_out_(WithJoined(ops, adapters), TokenLayout::Join(x));
  for (size_t i = 0; i < x.size(); ++i) x[i] = layout.ByVideo(all, i);
  return x;
}

FirstBlock Transformer::First(const Ops& ops, const VelocityInputs& inputs) const {
  CheckForm(ops);
  const at::Tensor tokens = proj_in_(ops.WithAdapters(inputs.adapters), inputs.x);
  BlockWalk walk(blocks_, scale_shift_tables_, {&inputs, 1}, kByVideo, tokens, {0, 1});
  walk.Finish(ops);
  const at::Tensor x = walk.x(0);
  return {x, x - walk.layout().ForRows(tokens, 0)};
}

at::Tensor Transformer::Others(const Ops& ops, const VelocityInputs& inputs) const {
  BlockWalk walk(blocks_, scale_shift_tables_, {&inputs, 1}, kByVideo, inputs.x,
                 {1, blocks_.size()});
  walk.Finish(ops);
  return walk.layout().AllRows(walk.x(0), 0);
}

at::Tensor Transformer::AllRows(const VelocityInputs& inputs, const at::Tensor& x) {
  return LayoutOf({&inputs, 1}, kByVideo).AllRows(x, 0);
}

at::Tensor Transformer::Head(const Ops& ops, const VelocityInputs& inputs,
                             const at::Tensor& x) const {
  const TokenLayout layout = LayoutOf({&inputs, 1}, kByVideo);
  const Ops by =
      inputs.adapters.defined() ? ops.WithAdapters(layout.ForAllRows(inputs.adapters, 0)) : ops;
  return proj_out_(by, HeadRows(ops, inputs, x, layout, 0));
}

at::Tensor Transformer::HeadRows(const Ops& ops, const VelocityInputs& inputs, const at::Tensor& x,
                                 const TokenLayout& layout, size_t group) const {
  const at::Tensor head =
      ForTokens(scale_shift_table_ + inputs.time.embedded.unsqueeze(1), inputs.time_of);
  const std::vector<at::Tensor> rows = layout.ForAllRows(head, group).unbind(2);
  return ops.AdalnLayerNorm(layout.AllRows(x, group), rows[1], rows[0], kHeadEps);
}

}  // namespace reel::model::ltx
