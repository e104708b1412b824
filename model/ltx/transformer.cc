// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/bridge/row_ops.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/text_rows.h"

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

template <typename T>
bool Contains(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// [N, k, D] of the times to [clips, 1 or S, k, D]: those of each token, where they differ.
at::Tensor ForTokens(const at::Tensor& by_time, const at::Tensor& time_of) {
  if (!time_of.defined()) return by_time.unsqueeze(1);
  return by_time.index_select(0, time_of.flatten()).unflatten(0, time_of.sizes());
}

// Rows that are still the same: first all of a clip, and then, until the first perturbed block,
// the last two of a clip alone. Tensors have one row for each clip, or all but the last, or all.
class SharedRows {
 public:
  explicit SharedRows(const VelocityInputs& inputs)
      : of_clip_(inputs.rows), all_(inputs.text.rows()) {
    if (of_clip_.empty()) of_clip_.assign(static_cast<size_t>(inputs.x.size(0)), 1);
    clips_ = static_cast<int64_t>(of_clip_.size());
    until_perturbed_ = clips_ == 1 && all_ > 1 && !inputs.perturbed.empty() ? all_ - 1 : all_;
  }

  int64_t all() const { return all_; }
  // How many rows differ before the first perturbed block.
  int64_t until_perturbed() const { return until_perturbed_; }

  // With a copy of its own for each of the first `count` rows.
  at::Tensor To(const at::Tensor& x, int64_t count) const {
    if (x.size(0) == count) return x;
    if (x.size(0) != clips_) return at::cat({x, x.slice(0, x.size(0) - 1)});
    std::vector<at::Tensor> rows;
    for (int64_t clip = 0, left = count; clip < clips_; ++clip) {
      const int64_t own = std::min(of_clip_[static_cast<size_t>(clip)], left);
      rows.push_back(Expanded(x.slice(0, clip, clip + 1), own));
      left -= own;
    }
    return at::cat(rows);
  }
  // The same without copies where one clip is alone.
  at::Tensor ViewTo(const at::Tensor& x, int64_t count) const {
    return clips_ == 1 ? Expanded(x, count) : To(x, count);
  }

 private:
  static at::Tensor Expanded(const at::Tensor& x, int64_t rows) {
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes[0] = rows;
    return x.expand(sizes);
  }

  std::vector<int64_t> of_clip_;
  const int64_t all_;
  int64_t clips_ = 0, until_perturbed_ = 0;
};

// Tokens of a clip. Putting what is known beside what was asked takes longer in 8 bits than asking
// fewer: a step 3 % at 256 tokens; from 640 on it is shorter (one H200,
// tests/bench/results/ltx.md).
constexpr int64_t kLeastTokensIn8Bits = 512;

bool IsWorthKnowing(const Ops& ops, int64_t tokens) {
  return FormOf(ops.run()) == RowForm::kPlain || tokens >= kLeastTokensIn8Bits;
}

// What the text says to all tokens of its rows, [B, S, D]; `x` has B rows or fewer that are shared.
at::Tensor Answer(const Ops& ops, const TransformerBlock& block, const at::Tensor& x,
                  const TextContext& text, size_t index, const SharedRows& shared) {
  const TextRows rows(IsWorthKnowing(ops, x.size(1)) ? text.has_one_key : std::vector<bool>());
  const TextKeys& keys = text.blocks[index];
  const int64_t all = text.rows();
  at::Tensor asked;
  if (!rows.none_asks()) {
    const bool has_all = x.size(0) == all;
    at::Tensor q = block.text_attention.Query(ops, has_all ? rows.Asking(x) : x);
    if (!has_all) q = rows.Asking(shared.To(q, all));
    KeyMask mask;
    mask.bias = rows.Asking(text.mask.bias);
    if (text.mask.lengths.defined()) mask.lengths = rows.Asking(text.mask.lengths);
    asked = block.Ask(ops, q, {rows.Asking(keys.k), rows.Asking(keys.v), {}}, mask);
  }
  return rows.WithKnown(asked, keys.only, x.size(1));
}

}  // namespace

absl::StatusOr<Transformer> Transformer::Load(const WeightSet& stored,
                                              const TransformerConfig& config, at::ScalarType dtype,
                                              at::Device device, TensorsByName* shared) {
  Weights weights(stored, dtype, device, shared);
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
  std::vector<at::Tensor> tables;
  for (const TransformerBlock& block : model.blocks_) tables.push_back(block.scale_shift_table);
  model.scale_shift_tables_ = at::stack(tables);
  model.bytes_ = weights.bytes();
  model.parameters_ = weights.parameters();
  return model;
}

absl::Status Transformer::MakeE4m3() {
  if (config_.width() % kE4m3Sides != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the profile fp8 needs a width that is a multiple of ", kE4m3Sides,
                     ", the transformer's is ", config_.width()));
  }
  for (TransformerBlock& block : blocks_) {
    for (Linear* layer : block.LayersInForm()) layer->MakeE4m3();
  }
  has_e4m3_ = true;
  return absl::OkStatus();
}

TextContext Transformer::Prepare(const Ops& ops, const at::Tensor& embeddings,
                                 const at::Tensor& mask) const {
  TextContext context;
  const at::Tensor text = caption_2_(ops, ops.GeluTanh(caption_1_(ops, embeddings.to(dtype()))));
  context.mask.bias = ((1 - mask.to(text.options())) * kMasked).unsqueeze(1).unsqueeze(1);
  if (const at::Tensor lengths = LengthsOf(mask); lengths.defined()) {
    context.mask.lengths = lengths.to(text.device());
    for (int64_t row = 0; row < lengths.size(0); ++row) {
      context.has_one_key.push_back(lengths.data_ptr<int32_t>()[row] == 1);
    }
  }
  context.has_one_key.resize(static_cast<size_t>(mask.size(0)), false);
  const bool some = Contains(context.has_one_key, true);
  for (const TransformerBlock& block : blocks_) {
    context.blocks.push_back(block.KeysOf(ops, text, some));
  }
  return context;
}

TextContext TextContext::Rows(int64_t first, int64_t count) const {
  TextContext rows;
  rows.mask.bias = mask.bias.slice(0, first, first + count);
  if (mask.lengths.defined()) rows.mask.lengths = mask.lengths.slice(0, first, first + count);
  const auto begin = has_one_key.begin() + first;
  rows.has_one_key.assign(begin, begin + count);
  const auto own = [&](const at::Tensor& t) {
    return t.defined() ? t.slice(0, first, first + count) : t;
  };
  for (const TextKeys& keys : blocks) {
    rows.blocks.push_back({own(keys.k), own(keys.v), own(keys.only)});
  }
  return rows;
}

TimeRows Transformer::Times(const Ops& ops, const at::Tensor& times) const {
  const at::Tensor embedded = time_embedding_(ops, times);
  return {embedded, time_rows_(ops, at::silu(embedded))};
}

void Transformer::CheckForm(const Ops& ops) const {
  if (FormOf(ops.run()) == RowForm::kE4m3 && !has_e4m3_) {
    ThrowIfError(absl::FailedPreconditionError("the transformer's layers were not made in 8 bits"));
  }
}

at::Tensor Transformer::Velocity(const Ops& ops, const VelocityInputs& inputs) const {
  CheckForm(ops);
  return Head(ops, inputs, Blocks(ops, inputs, proj_in_(ops, inputs.x), 0, blocks_.size()));
}

FirstBlock Transformer::First(const Ops& ops, const VelocityInputs& inputs) const {
  CheckForm(ops);
  const at::Tensor tokens = proj_in_(ops, inputs.x);
  const at::Tensor x = Blocks(ops, inputs, tokens, 0, 1);
  return {x, x - SharedRows(inputs).ViewTo(tokens, x.size(0))};
}

at::Tensor Transformer::Others(const Ops& ops, const VelocityInputs& inputs) const {
  return AllRows(inputs, Blocks(ops, inputs, inputs.x, 1, blocks_.size()));
}

at::Tensor Transformer::AllRows(const VelocityInputs& inputs, const at::Tensor& x) {
  const SharedRows shared(inputs);
  return shared.To(x, shared.all());
}

at::Tensor Transformer::Blocks(const Ops& ops, const VelocityInputs& inputs, at::Tensor x,
                               size_t first, size_t end) const {
  const SharedRows shared(inputs);
  // Of all these blocks in one pass, [N, blocks, 6, D].
  const at::Tensor modulations =
      scale_shift_tables_.slice(0, static_cast<int64_t>(first), static_cast<int64_t>(end)) +
      inputs.time.rows.unflatten(1, {6, -1}).unsqueeze(1);
  TextContext text = inputs.text;
  const bool is_apart = x.size(0) == shared.all();  // since a perturbed block before these
  if (!is_apart && shared.until_perturbed() < shared.all()) {
    text = text.Rows(0, shared.until_perturbed());
  }
  for (size_t i = first; i < end; ++i) {
    const TransformerBlock& block = blocks_[i];
    const bool is_perturbed = Contains(inputs.perturbed, static_cast<int64_t>(i));
    if (is_perturbed && text.rows() < shared.all()) text = inputs.text;
    if (is_perturbed) x = shared.To(x, shared.all());
    const at::Tensor modulation =
        ForTokens(modulations.select(1, static_cast<int64_t>(i - first)), inputs.time_of);
    x = block.AttendSelf(ops, x, shared.ViewTo(modulation, x.size(0)), {inputs.rope, is_perturbed});
    const at::Tensor answer = Answer(ops, block, x, text, i, shared);
    x = block.Feed(ops, shared.To(x, text.rows()), answer, shared.ViewTo(modulation, text.rows()));
  }
  return x;
}

at::Tensor Transformer::Head(const Ops& ops, const VelocityInputs& inputs,
                             const at::Tensor& x) const {
  const SharedRows shared(inputs);
  const at::Tensor all = shared.To(x, shared.all());
  const at::Tensor head =
      ForTokens(scale_shift_table_ + inputs.time.embedded.unsqueeze(1), inputs.time_of);
  const std::vector<at::Tensor> rows = shared.ViewTo(head, shared.all()).unbind(2);
  return proj_out_(ops, ops.AdalnLayerNorm(all, rows[1], rows[0], kHeadEps));
}

}  // namespace reel::model::ltx
