// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/block_walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/tokens/packed_rows.h"
#include "model/tokens/text_rows.h"
#include "model/tokens/token_part.h"

namespace reel::model::ltx {
namespace {

template <typename T>
bool Contains(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

// A group on its way through some blocks.
class GroupRows {
 public:
  explicit GroupRows(const StepGroup& group)
      : inputs_(group.inputs), shared_(group.shared), text_(group.inputs.text) {
    if (inputs_.part != nullptr) part_.emplace(*inputs_.part);
    // Since a perturbed block before these.
    const bool is_apart = inputs_.x.size(0) == shared_.all();
    if (!is_apart && shared_.until_perturbed() < shared_.all()) {
      text_ = text_.Rows(0, shared_.until_perturbed());
    }
    if (text_.rows() == shared_.all()) text_.has_one_key = shared_.has_one_key();
  }

  const TextContext& text() const { return text_; }
  bool IsPerturbed(size_t block) const {
    return Contains(inputs_.perturbed, static_cast<int64_t>(block));
  }
  TokenGroup TokensAt(size_t block) { return {IsPerturbed(block), part_ ? &*part_ : nullptr}; }
  // Rows part in front of a perturbed block.
  void Enter(size_t block, at::Tensor& x) {
    if (!IsPerturbed(block)) return;
    if (text_.rows() < shared_.all()) text_ = inputs_.text;
    x = shared_.To(x, shared_.all());
  }
  // With the rows that the text parts.
  at::Tensor Parted(const at::Tensor& x) const { return shared_.ViewTo(x, text_.rows()); }

 private:
  const VelocityInputs& inputs_;
  const SharedRows& shared_;
  TextContext text_;               // of the rows that differ so far
  std::optional<TokenPart> part_;  // counts this call's exchanges
};

namespace {

// What the texts say to all tokens of their rows: in parts of neighbouring rows, of several groups
// together. `x` has as many rows as there are, or fewer that are shared.
std::vector<at::Tensor> Answers(const Ops& ops, const TransformerBlock& block, const at::Tensor& x,
                                const PackedRows& layout, const std::vector<GroupRows>& groups,
                                size_t index) {
  std::vector<TextRows> rows;
  std::vector<TextKeys> keys;
  std::vector<size_t> asks;  // groups
  std::vector<at::Tensor> asking;
  for (size_t i = 0; i < groups.size(); ++i) {
    const TextContext& text = groups[i].text();
    rows.emplace_back(text.has_one_key);
    keys.push_back(text.KeysOf(index));
    if (rows[i].none_asks()) continue;
    asks.push_back(i);
    const at::Tensor own = layout.Part(x, i);
    asking.push_back(own.size(0) == text.rows() ? rows[i].Asking(own) : own);
  }
  std::vector<at::Tensor> asked(groups.size());
  if (!asks.empty()) {
    const PackedRows queries(asking);
    const at::Tensor q = block.text_attention.Query(ops, queries.Together(asking));
    std::vector<TextQuestion> questions;
    for (size_t i = 0; i < asks.size(); ++i) {
      const size_t group = asks[i];
      const TextContext& text = groups[group].text();
      at::Tensor own = queries.Part(q, i);
      if (layout.rows(group) != text.rows()) {
        own = rows[group].Asking(groups[group].Parted(own)).contiguous();
      }
      questions.push_back({own, keys[group], text.mask});
    }
    const std::vector<at::Tensor> answers = block.Ask(ops, questions);
    for (size_t i = 0; i < asks.size(); ++i) asked[asks[i]] = answers[i];
  }
  std::vector<at::Tensor> all;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (at::Tensor& part : rows[i].Answers(asked[i], keys[i].only, layout.tokens(i))) {
      all.push_back(std::move(part));
    }
  }
  if (groups.size() == 1) return all;
  return {PackedRows(all).Together(all)};
}

}  // namespace

BlockWalk::BlockWalk(const std::vector<TransformerBlock>& blocks, const at::Tensor& tables,
                     std::vector<StepGroup> groups, at::Tensor x, Range range)
    : blocks_(blocks),
      groups_(std::move(groups)),
      places_(groups_,
              tables.slice(0, static_cast<int64_t>(range.first), static_cast<int64_t>(range.end))),
      input_{std::move(x)},
      first_(range.first),
      at_(range.first),
      end_(range.end) {
  std::vector<int64_t> counts;
  for (const StepGroup& group : groups_) {
    rows_.emplace_back(group);
    counts.push_back(group.inputs.x.size(0));
  }
  places_.Set(counts);
}

BlockWalk::~BlockWalk() = default;

at::Tensor BlockWalk::x(size_t group) const { return places_.rows().Part(input_.x, group); }

// Nobody else is there where something is perturbed.
void BlockWalk::Enter() {
  if (groups_.size() > 1) return;
  rows_[0].Enter(at_, input_.x);
  places_.Set({input_.x.size(0)});
}

// Rows that a text parts are each there from here on.
at::Tensor BlockWalk::Parted(const at::Tensor& x) {
  std::vector<int64_t> counts;
  std::vector<at::Tensor> parts;
  bool differs = false;
  for (size_t i = 0; i < rows_.size(); ++i) {
    counts.push_back(rows_[i].text().rows());
    differs = differs || counts[i] != places_.rows().rows(i);
  }
  if (!differs) return x;
  for (size_t i = 0; i < rows_.size(); ++i) {
    parts.push_back(rows_[i].Parted(places_.rows().Part(x, i)));
  }
  places_.Set(counts);
  return places_.rows().Together(parts);
}

void BlockWalk::Next(const Ops& ops) {
  const TransformerBlock& block = blocks_[at_];
  Enter();
  std::vector<TokenGroup> tokens;
  for (GroupRows& rows : rows_) tokens.push_back(rows.TokensAt(at_));
  const size_t own = at_ - first_;
  at::Tensor x =
      block.AttendSelf(ops, input_, places_.rows(), tokens, places_.At(own, /*follows=*/false));
  const std::vector<at::Tensor> answers = Answers(ops, block, x, places_.rows(), rows_, at_);
  // The first block ends as it does where the others are left out, and so does one behind which
  // rows part.
  const bool goes_on = at_ > 0 && at_ + 1 < end_ && !rows_[0].IsPerturbed(at_ + 1);
  x = Parted(x);
  input_ = block.Feed(ops, x, answers, places_.At(own, goes_on));
  ++at_;
}

}  // namespace reel::model::ltx
