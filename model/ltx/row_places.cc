// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/row_places.h"

namespace reel::model::ltx {
namespace {

bool IsTold(const std::vector<StepGroup>& groups) {
  return groups.size() > 1 || groups[0].inputs.time_of.defined();
}

at::Tensor TimesOf(const std::vector<StepGroup>& groups) {
  if (groups.size() == 1) return groups[0].inputs.time.rows;
  std::vector<at::Tensor> times;
  for (const StepGroup& group : groups) times.push_back(group.inputs.time.rows);
  return at::cat(times);
}

// Which of its group's times a token of each clip has, int32 [clips, S].
at::Tensor TimesOfTokens(const VelocityInputs& inputs) {
  if (inputs.time_of.defined()) return inputs.time_of.to(at::kInt);
  const int64_t clips = inputs.time.rows.size(0);
  return at::arange(clips, inputs.rope.index().options())
      .unsqueeze(1)
      .expand({clips, inputs.x.size(1)});
}

}  // namespace

RowPlaces::RowPlaces(const std::vector<StepGroup>& groups, const at::Tensor& tables)
    : groups_(groups),
      is_told_(IsTold(groups)),
      by_time_(tables + TimesOf(groups).unflatten(1, {6, -1}).unsqueeze(1)) {
  const SharedRows& shared = groups[0].shared;
  if (!is_told_ && shared.has_several_clips()) of_all_ = shared.To(by_time_, shared.all());
}

void RowPlaces::Set(const std::vector<int64_t>& counts) {
  if (counts == counts_) return;
  counts_ = counts;
  std::vector<PackedRows::Size> sizes;
  for (size_t i = 0; i < groups_.size(); ++i) {
    sizes.push_back({counts[i], groups_[i].inputs.x.size(1)});
  }
  rows_.emplace(sizes);
  if (is_told_) vector_of_ = VectorOf();
  if (groups_.size() > 1) JoinRopes();
}

at::Tensor RowPlaces::VectorOf() const {
  std::vector<at::Tensor> all;
  int64_t first = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const auto& [inputs, shared] = groups_[i];
    all.push_back(shared.To(TimesOfTokens(inputs) + first, counts_[i]));
    first += inputs.time.rows.size(0);
  }
  return rows_->Together(all).contiguous();
}

void RowPlaces::JoinRopes() {
  std::vector<at::Tensor> tables, indices;
  int64_t first = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const RopeTable& rope = groups_[i].inputs.rope;
    tables.push_back(rope.cos_sin());
    indices.push_back((rope.index() + first).expand({counts_[i], -1, -1}));
    first += rope.cos_sin().size(0);
  }
  const int64_t width = by_time_.size(3);
  joined_ = RopeTable(at::cat(tables), rows_->Together(indices), width);
}

// [rows, 1, 6, D], or of all times.
at::Tensor RowPlaces::ModulationOf(size_t block) const {
  const auto at = static_cast<int64_t>(block);
  const at::Tensor by_time = by_time_.select(1, at).unsqueeze(1);
  if (is_told_) return by_time;
  const SharedRows& shared = groups_[0].shared;
  if (of_all_.defined() && counts_[0] == shared.all()) return of_all_.select(1, at).unsqueeze(1);
  return shared.ViewTo(by_time, counts_[0]);
}

BlockContext RowPlaces::At(size_t block, bool follows) const {
  BlockContext context = {.rope = groups_.size() == 1 ? groups_[0].inputs.rope : joined_,
                          .modulation = ModulationOf(block),
                          .vector_of = vector_of_};
  if (follows) context.next = ModulationOf(block + 1);
  return context;
}

}  // namespace reel::model::ltx
