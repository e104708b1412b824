// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer.h"

#include <algorithm>

#include "kernels/base/status_macros.h"

namespace reel::model::ltx {
namespace {

constexpr double kMasked = -10000;
constexpr double kHeadEps = 1e-6;

// How many of each row count, int32 [B] on the host, where those are its first ones and there are
// some; else undefined.
at::Tensor LengthsOf(const at::Tensor& mask) {
  const at::Tensor counts = mask.to(at::kCPU).ne(0);
  const at::Tensor lengths = counts.sum(1, /*keepdim=*/true);
  const bool are_first = counts.equal(at::arange(counts.size(1)).lt(lengths));
  if (!are_first || lengths.eq(0).any().item<bool>()) return {};
  return lengths.squeeze(1).to(at::kInt);
}

}  // namespace

absl::StatusOr<Transformer> Transformer::Load(const WeightSet& stored,
                                              const TransformerConfig& config, at::ScalarType dtype,
                                              at::Device device) {
  Weights weights(stored, dtype, device);
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
  for (int64_t i = 0; i < config.num_layers; ++i) {
    model.blocks_.push_back(TakeTransformerBlock(weights, i, config));
  }
  REEL_RETURN_IF_ERROR(weights.Finish());
  model.bytes_ = weights.bytes();
  model.parameters_ = weights.parameters();
  return model;
}

TextContext Transformer::Prepare(const Ops& ops, const at::Tensor& embeddings,
                                 const at::Tensor& mask) const {
  TextContext context;
  const at::Tensor text = caption_2_(ops, ops.GeluTanh(caption_1_(ops, embeddings.to(dtype()))));
  context.mask.bias = ((1 - mask.to(text.options())) * kMasked).unsqueeze(1).unsqueeze(1);
  if (const at::Tensor lengths = LengthsOf(mask); lengths.defined()) {
    context.mask.lengths = lengths.to(text.device());
  }
  for (const TransformerBlock& block : blocks_) context.blocks.push_back(block.KeysOf(ops, text));
  return context;
}

TextContext TextContext::Rows(int64_t first, int64_t count) const {
  TextContext rows;
  rows.mask.bias = mask.bias.slice(0, first, first + count);
  if (mask.lengths.defined()) rows.mask.lengths = mask.lengths.slice(0, first, first + count);
  for (const TextKeys& keys : blocks) {
    rows.blocks.push_back(
        {keys.k.slice(0, first, first + count), keys.v.slice(0, first, first + count)});
  }
  return rows;
}

at::Tensor Transformer::Velocity(const Ops& ops, const VelocityInputs& inputs) const {
  const int64_t batch = inputs.x.size(0);
  const std::vector<int64_t>& perturbed = inputs.perturbed;
  at::Tensor h = proj_in_(ops, inputs.x);
  const at::Tensor embedded = time_embedding_(ops, inputs.times.flatten());  // [B S_t, D]
  const at::Tensor rows =
      time_rows_(ops, at::silu(embedded)).unflatten(0, {batch, -1});  // [B, S_t, 6D]
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const bool is_perturbed =
        std::find(perturbed.begin(), perturbed.end(), static_cast<int64_t>(i)) != perturbed.end();
    h = blocks_[i](ops, std::move(h), rows, inputs.text.blocks[i],
                   {inputs.rope, inputs.text.mask, is_perturbed});
  }
  const std::vector<at::Tensor> head =
      (scale_shift_table_ + embedded.unflatten(0, {batch, -1}).unsqueeze(2)).unbind(2);
  return proj_out_(ops, ops.AdalnLayerNorm(h, head[1], head[0], kHeadEps));
}

}  // namespace reel::model::ltx
