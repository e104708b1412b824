// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/transformer.h"

#include <algorithm>
#include <utility>

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

SharedRows RowsOf(const VelocityInputs& inputs, SharedRows::Order order) {
  const int64_t clips =
      inputs.rows.empty() ? inputs.text.rows() : static_cast<int64_t>(inputs.rows.size());
  return {{.of_clip = inputs.rows,
           .clips = clips,
           .has_one_key = inputs.text.has_one_key,
           .perturbs = !inputs.perturbed.empty()},
          order};
}

// What is added to the tables of some blocks, for whatever rows they come to work on.
class Modulations {
 public:
  // `tables` [blocks, 6, D].
  Modulations(const VelocityInputs& inputs, const SharedRows& shared, const at::Tensor& tables)
      : time_of_(inputs.time_of),
        shared_(shared),
        by_time_(tables + inputs.time.rows.unflatten(1, {6, -1}).unsqueeze(1)) {
    if (!time_of_.defined() && shared_.has_several_clips()) {
      of_all_ = shared_.To(by_time_, shared_.all());
    }
  }

  // Of the block, [rows, 1 or S, 6, D].
  at::Tensor Of(size_t block, int64_t rows) const {
    const auto at = static_cast<int64_t>(block);
    if (of_all_.defined() && rows == shared_.all()) return of_all_.select(1, at).unsqueeze(1);
    return shared_.ViewTo(ForTokens(by_time_.select(1, at), time_of_), rows);
  }

 private:
  const at::Tensor& time_of_;
  const SharedRows& shared_;
  const at::Tensor by_time_;  // [N, blocks, 6, D]
  at::Tensor of_all_;         // the same of every row; undefined where one clip has them all
};

// What the text says to all tokens of its rows, [B, S, D] in parts; `x` has B rows or fewer that
// are shared.
std::vector<at::Tensor> Answers(const Ops& ops, const TransformerBlock& block, const at::Tensor& x,
                                const TextContext& text, const TextKeys& keys,
                                const SharedRows& shared) {
  const TextRows rows(text.has_one_key);
  at::Tensor asked;
  if (!rows.none_asks()) {
    const bool has_all = x.size(0) == text.rows();
    at::Tensor q = block.text_attention.Query(ops, has_all ? rows.Asking(x) : x);
    if (!has_all) q = rows.Asking(shared.ViewTo(q, text.rows())).contiguous();
    asked = block.Ask(ops, q, keys, text.mask);
  }
  return rows.Answers(asked, keys.only, x.size(1));
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
    block.MakeE4m3();
  }
  has_e4m3_ = true;
  return absl::OkStatus();
}

TextContext Transformer::Prepare(const Ops& ops, const at::Tensor& embeddings,
                                 const at::Tensor& mask) const {
  TextContext context;
  const at::Tensor text = caption_2_(ops, ops.GeluTanh(caption_1_(ops, embeddings.to(dtype()))));
  const at::Tensor lengths = LengthsOf(mask);
  for (int64_t row = 0; row < mask.size(0); ++row) {
    context.has_one_key.push_back(lengths.defined() && lengths.data_ptr<int32_t>()[row] == 1);
  }
  const TextRows rows(context.has_one_key);
  if (lengths.defined()) context.mask.lengths = rows.Asking(lengths.to(text.device()));
  context.mask.bias =
      ((1 - rows.Asking(mask).to(text.options())) * kMasked).unsqueeze(1).unsqueeze(1);
  const at::Tensor asked = rows.Asking(text), known = rows.Known(text).slice(1, 0, 1);
  for (const TransformerBlock& block : blocks_) {
    context.blocks.push_back(block.KeysOf(ops, asked, known));
  }
  return context;
}

TextContext TextContext::Rows(int64_t first, int64_t count) const {
  TextContext rows;
  const auto begin = has_one_key.begin() + first;
  rows.has_one_key.assign(begin, begin + count);
  const int64_t known = std::count(has_one_key.begin(), begin, true);
  const int64_t own_known = std::count(begin, begin + count, true);
  const auto asking = [&](const at::Tensor& t) {
    return t.defined() ? t.slice(0, first - known, first - known + count - own_known) : t;
  };
  rows.mask = {asking(mask.bias), asking(mask.lengths)};
  for (const TextKeys& keys : blocks) {
    const bool has_known = keys.only.defined() && own_known > 0;
    rows.blocks.push_back(
        {asking(keys.k), asking(keys.v),
         has_known ? keys.only.slice(0, known, known + own_known) : at::Tensor()});
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
  const SharedRows shared = RowsOf(inputs, SharedRows::Order::kAskingFirst);
  const at::Tensor x = Blocks(ops, inputs, shared, proj_in_(ops, inputs.x), {0, blocks_.size()});
  return shared.InOrderOfClips(Head(ops, inputs, shared, x));
}

FirstBlock Transformer::First(const Ops& ops, const VelocityInputs& inputs) const {
  CheckForm(ops);
  const SharedRows shared = RowsOf(inputs, SharedRows::Order::kClips);
  const at::Tensor tokens = proj_in_(ops, inputs.x);
  const at::Tensor x = Blocks(ops, inputs, shared, tokens, {0, 1});
  return {x, x - shared.ViewTo(tokens, x.size(0))};
}

at::Tensor Transformer::Others(const Ops& ops, const VelocityInputs& inputs) const {
  const SharedRows shared = RowsOf(inputs, SharedRows::Order::kClips);
  return shared.To(Blocks(ops, inputs, shared, inputs.x, {1, blocks_.size()}), shared.all());
}

at::Tensor Transformer::AllRows(const VelocityInputs& inputs, const at::Tensor& x) {
  const SharedRows shared = RowsOf(inputs, SharedRows::Order::kClips);
  return shared.To(x, shared.all());
}

at::Tensor Transformer::Blocks(const Ops& ops, const VelocityInputs& inputs,
                               const SharedRows& shared, at::Tensor x, Range range) const {
  const auto [first, end] = range;
  const Modulations modulations(
      inputs, shared,
      scale_shift_tables_.slice(0, static_cast<int64_t>(first), static_cast<int64_t>(end)));
  const auto is_perturbed = [&](size_t block) {
    return Contains(inputs.perturbed, static_cast<int64_t>(block));
  };
  TextContext text = inputs.text;
  const bool is_apart = x.size(0) == shared.all();  // since a perturbed block before these
  if (!is_apart && shared.until_perturbed() < shared.all()) {
    text = text.Rows(0, shared.until_perturbed());
  }
  if (text.rows() == shared.all()) text.has_one_key = shared.has_one_key();
  BlockInput input = {std::move(x)};
  for (size_t i = first; i < end; ++i) {
    const TransformerBlock& block = blocks_[i];
    if (is_perturbed(i) && text.rows() < shared.all()) text = inputs.text;
    if (is_perturbed(i)) input.x = shared.To(input.x, shared.all());
    const at::Tensor own = block.AttendSelf(ops, input, modulations.Of(i - first, input.x.size(0)),
                                            {inputs.rope, is_perturbed(i)});
    const std::vector<at::Tensor> answers = Answers(ops, block, own, text, text.blocks[i], shared);
    // The first block ends as it does where the others are left out, and so does one behind which
    // rows part.
    const bool goes_on = i > 0 && i + 1 < end && !is_perturbed(i + 1);
    input = block.Feed(ops, shared.ViewTo(own, text.rows()), answers,
                       modulations.Of(i - first, text.rows()),
                       goes_on ? modulations.Of(i + 1 - first, text.rows()) : at::Tensor());
  }
  return input.x;
}

at::Tensor Transformer::Head(const Ops& ops, const VelocityInputs& inputs,
                             const at::Tensor& x) const {
  return Head(ops, inputs, RowsOf(inputs, SharedRows::Order::kClips), x);
}

at::Tensor Transformer::Head(const Ops& ops, const VelocityInputs& inputs, const SharedRows& shared,
                             const at::Tensor& x) const {
  const at::Tensor all = shared.To(x, shared.all());
  const at::Tensor head =
      ForTokens(scale_shift_table_ + inputs.time.embedded.unsqueeze(1), inputs.time_of);
  const std::vector<at::Tensor> rows = shared.ViewTo(head, shared.all()).unbind(2);
  return proj_out_(ops, ops.AdalnLayerNorm(all, rows[1], rows[0], kHeadEps));
}

}  // namespace reel::model::ltx
