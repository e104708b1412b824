// SPDX-License-Identifier: Apache-2.0
#include "model/tokens/token_layout.h"

#include <algorithm>
#include <utility>

namespace reel::model {
namespace {

// The operator that takes answers runs once for each part; above this, joining them costs less.
constexpr size_t kMostAnswerParts = 3;

at::Tensor Expanded(const at::Tensor& x, int64_t rows) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes[0] = rows;
  return x.expand(sizes);
}

// Those rows of x, in one pass: neighbours are one part.
at::Tensor Gathered(const at::Tensor& x, const std::vector<int64_t>& rows, size_t count) {
  std::vector<at::Tensor> parts;
  for (size_t at = 0; at < count;) {
    size_t end = at + 1;
    while (end < count && rows[end] == rows[end - 1] + 1) ++end;
    parts.push_back(x.slice(0, rows[at], rows[end - 1] + 1));
    at = end;
  }
  return at::cat(parts);
}

}  // namespace

TokenLayout::TokenLayout(std::vector<TokenGroup> groups, Order order) {
  groups_.reserve(groups.size());
  for (TokenGroup& group : groups) groups_.emplace_back(std::move(group), order);
}

TokenLayout::GroupState::GroupState(TokenGroup group, Order order)
    : tokens(group.tokens),
      videos(static_cast<int64_t>(group.rows.size())),
      all(static_cast<int64_t>(group.has_one_key.size())),
      now(group.given == 0 ? videos : group.given),
      has_one_key(std::move(group.has_one_key)),
      ranks(group.ranks) {
  for (int64_t video = 0; video < videos; ++video) {
    video_of.insert(video_of.end(), static_cast<size_t>(group.rows[static_cast<size_t>(video)]),
                    video);
  }
  // Where each video has one row, nothing shows whether they are sorted yet.
  const bool may_sort = videos > 1 && all > videos && !group.perturbs;
  if (order == Order::kAskingFirst && may_sort) PutAskingFirst();
  const bool has_perturbed = group.perturbs && videos == 1 && all > 1;
  SetTextRows(has_perturbed && now < all ? all - 1 : all);
}

void TokenLayout::GroupState::PutAskingFirst() {
  if (std::is_sorted(has_one_key.begin(), has_one_key.end())) return;
  const std::vector<int64_t> by_video = video_of;
  const std::vector<bool> keys = has_one_key;
  position_of.resize(by_video.size());
  size_t at = 0;
  for (const bool one_key : {false, true}) {
    for (size_t row = 0; row < by_video.size(); ++row) {
      if (keys[row] != one_key) continue;
      position_of[row] = static_cast<int64_t>(at);
      video_of[at] = by_video[row];
      has_one_key[at] = one_key;
      ++at;
    }
  }
}

void TokenLayout::GroupState::SetTextRows(int64_t count) {
  by_text = count;
  asking = 0;
  runs.clear();
  for (int64_t row = 0; row < count; ++row) {
    const bool asks = !has_one_key[static_cast<size_t>(row)];
    if (runs.empty() || runs.back().asks != asks) runs.push_back({asks, row, 0});
    ++runs.back().count;
    if (asks) ++asking;
  }
  SetNow(now);
}

void TokenLayout::GroupState::SetNow(int64_t count) {
  now = count;
  queried = asking == 0 ? 0 : now == by_text ? asking : now;
}

at::Tensor TokenLayout::GroupState::To(const at::Tensor& x, int64_t count) const {
  if (x.size(0) == count) return x;
  if (x.size(0) != videos) return at::cat({x, x.slice(0, x.size(0) - 1)});
  if (videos == 1) return Expanded(x, count).contiguous();
  return Gathered(x, video_of, static_cast<size_t>(count));
}

at::Tensor TokenLayout::GroupState::ViewTo(const at::Tensor& x, int64_t count) const {
  return videos == 1 && x.size(0) == 1 ? Expanded(x, count) : To(x, count);
}

at::Tensor TokenLayout::GroupState::Of(const at::Tensor& all_rows, bool asks) const {
  std::vector<at::Tensor> parts;
  for (const Run& run : runs) {
    if (run.asks == asks) parts.push_back(all_rows.slice(0, run.first, run.first + run.count));
  }
  if (parts.empty()) return all_rows.slice(0, 0, 0);
  if (parts.size() == 1) return parts[0].size(0) == all_rows.size(0) ? all_rows : parts[0];
  return at::cat(parts);
}

at::Tensor TokenLayout::Join(const std::vector<at::Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<at::Tensor> rows;
  rows.reserve(parts.size());
  for (const at::Tensor& part : parts) rows.push_back(part.flatten(0, 1));
  return at::cat(rows).unsqueeze(0);
}

at::Tensor TokenLayout::Part(const at::Tensor& x, size_t group, int64_t GroupState::* count) const {
  const int64_t rows = groups_[group].*count, tokens = groups_[group].tokens;
  int64_t before = 0, all = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (i == group) before = all;
    all += groups_[i].*count * groups_[i].tokens;
  }
  if (all == rows * tokens) return x;  // the group is alone
  return x.select(0, 0).slice(0, before, before + rows * tokens).unflatten(0, {rows, tokens});
}

bool TokenLayout::is_split_by_text() const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [](const GroupState& rows) { return rows.now == rows.by_text; });
}

at::Tensor TokenLayout::SplitByText(const at::Tensor& x) {
  if (is_split_by_text()) return x;
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < groups_.size(); ++i) {
    parts.push_back(groups_[i].ViewTo(Group(x, i), groups_[i].by_text));
  }
  for (GroupState& rows : groups_) rows.SetNow(rows.by_text);
  return Join(parts);
}

at::Tensor TokenLayout::SplitPerturbed(const at::Tensor& x) {
  GroupState& rows = groups_[0];
  rows.SetTextRows(rows.all);
  rows.SetNow(rows.all);
  return rows.To(x, rows.all);
}

at::Tensor TokenLayout::ByVideo(const at::Tensor& x, size_t group) const {
  const at::Tensor own = Part(x, group, &GroupState::all);
  const std::vector<int64_t>& positions = groups_[group].position_of;
  return positions.empty() ? own : Gathered(own, positions, positions.size());
}

at::Tensor TokenLayout::JoinIndices(const std::vector<at::Tensor>& of_groups,
                                    const std::vector<int64_t>& sizes) const {
  std::vector<at::Tensor> parts;
  int64_t before = 0;
  for (size_t i = 0; i < of_groups.size(); ++i) {
    const at::Tensor own = of_groups[i] + before;
    parts.push_back(own.size(0) == 1 ? Expanded(own, rows(i)) : ForRows(own, i));
    before += sizes[i];
  }
  return Join(parts).contiguous();
}

at::Tensor TokenLayout::AskingRows(const at::Tensor& x) const {
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (!asks(i)) continue;
    const at::Tensor own = Group(x, i);
    parts.push_back(rows(i) == text_rows(i) ? Asking(own, i) : own);
  }
  return parts.empty() ? at::Tensor() : Join(parts);
}

at::Tensor TokenLayout::Questions(const at::Tensor& queries, size_t group) const {
  const at::Tensor own = Part(queries, group, &GroupState::queried);
  if (rows(group) == text_rows(group)) return own;
  return Asking(groups_[group].ViewTo(own, text_rows(group)), group).contiguous();
}

std::vector<at::Tensor> TokenLayout::Answers(const at::Tensor& asked,
                                             const std::vector<at::Tensor>& known) const {
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const at::Tensor own = asks(i) ? Part(asked, i, &GroupState::asking) : at::Tensor();
    int64_t asking = 0, other = 0;
    for (const Run& run : groups_[i].runs) {
      int64_t& first = run.asks ? asking : other;
      parts.push_back(
          run.asks
              ? own.slice(0, first, first + run.count)
              : known[i].slice(0, first, first + run.count).expand({run.count, tokens(i), -1}));
      first += run.count;
    }
  }
  if (groups_.size() > 1) return {Join(parts)};
  return parts.size() > kMostAnswerParts ? std::vector{at::cat(parts)} : parts;
}

RankTokens::KeysAndValues TokenLayout::OfAllRanks(const RankTokens::KeysAndValues& own,
                                                  size_t group, int64_t& exchanges) const {
  const RankTokens& ranks = groups_[group].ranks;
  return ranks.is_divided() ? ranks.OfAll(own.k, own.v, exchanges++) : own;
}

}  // namespace reel::model
