// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/block_call.h"

namespace reel::model::ltx {
namespace {

at::Tensor VectorsByTime(absl::Span<const VelocityInputs> groups, const at::Tensor& tables) {
  at::Tensor times = groups[0].time.rows;
  if (groups.size() > 1) {
    std::vector<at::Tensor> all;
    for (const VelocityInputs& inputs : groups) all.push_back(inputs.time.rows);
    times = at::cat(all);
  }
  const at::Tensor by_block = tables + times.unflatten(1, {kBlockVectors, -1}).unsqueeze(1);
  return by_block.flatten(1, 2).unsqueeze(1);
}

// Which of its group's times a token of each video has, int32 [videos, S].
at::Tensor TimesOfTokens(const VelocityInputs& inputs) {
  if (inputs.time_of.defined()) return inputs.time_of.to(at::kInt);
  const int64_t videos = inputs.time.rows.size(0);
  return at::arange(videos, inputs.rope.index().options())
      .unsqueeze(1)
      .expand({videos, inputs.x.size(1)});
}

}  // namespace

BlockCall::BlockCall(absl::Span<const VelocityInputs> groups, TokenLayout::Order order,
                     const at::Tensor& tables, size_t first)
    : groups_(groups),
      first_(first),
      layout_(LayoutOf(groups, order)),
      by_time_(VectorsByTime(groups, tables)) {
  for (size_t i = 0; i < groups_.size(); ++i) {
    const TextContext& text = groups_[i].text;
    const int64_t rows = layout_.text_rows(i);
    texts_.push_back(rows < text.rows() ? text.Rows(0, rows) : text);
  }
  FollowLayout();
}

Ops BlockCall::ForQueries(const Ops& ops) const {
  if (!adapters_.defined()) return ops;
  return ops.WithAdapters(layout_.AskingRows(adapters_));
}

Ops BlockCall::ForQuestions(const Ops& ops) const {
  if (!adapters_.defined()) return ops;
  const at::Tensor queries = layout_.AskingRows(adapters_);
  std::vector<at::Tensor> questions;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (layout_.asks(i)) questions.push_back(layout_.Questions(queries, i));
  }
  return ops.WithAdapters(TokenLayout::Join(questions));
}

void BlockCall::FollowLayout() {
  const bool has_several = groups_.size() > 1;
  if (groups_[0].adapters.defined()) {
    std::vector<at::Tensor> adapters;
    for (size_t i = 0; i < groups_.size(); ++i) {
      adapters.push_back(
          layout_.ForRows(groups_[i].adapters, i).expand({-1, layout_.tokens(i), -1}));
    }
    adapters_ = TokenLayout::Join(adapters);
  }
  vectors_ = by_time_;
  if (!has_several && !groups_[0].time_of.defined()) {
    vectors_ = layout_.ForRows(by_time_, 0);
    return;
  }
  std::vector<at::Tensor> times, tables, places;
  std::vector<int64_t> time_counts, place_counts;
  for (const VelocityInputs& inputs : groups_) {
    times.push_back(TimesOfTokens(inputs));
    time_counts.push_back(inputs.time.rows.size(0));
    tables.push_back(inputs.rope.cos_sin());
    places.push_back(inputs.rope.index());
    place_counts.push_back(inputs.rope.cos_sin().size(0));
  }
  time_of_ = layout_.JoinIndices(times, time_counts);
  if (!has_several) return;
  joined_rope_ =
      RopeTable(at::cat(tables), layout_.JoinIndices(places, place_counts), by_time_.size(3));
}

at::Tensor BlockCall::SplitByText(const at::Tensor& x) {
  if (layout_.is_split_by_text()) return x;
  const at::Tensor split = layout_.SplitByText(x);
  FollowLayout();
  return split;
}

at::Tensor BlockCall::SplitPerturbed(const at::Tensor& x) {
  if (layout_.rows(0) == layout_.all_rows(0)) return x;
  const at::Tensor split = layout_.SplitPerturbed(x);
  texts_[0] = groups_[0].text;
  FollowLayout();
  return split;
}

}  // namespace reel::model::ltx
