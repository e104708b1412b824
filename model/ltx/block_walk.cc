// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/block_walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/ltx/packing/packed_rows.h"
#include "model/ltx/text_rows.h"
#include "model/ltx/token_part.h"

namespace reel::model::ltx {
namespace {

template <typename T>
bool Contains(const std::vector<T>& values, T value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

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

// A group on its way through some blocks.
class GroupRows {
 public:
  // `x` is what it begins with; `tables` of the blocks from `first` on.
  GroupRows(const StepGroup& group, const at::Tensor& x, const at::Tensor& tables, size_t first)
      : inputs_(group.inputs),
        shared_(group.shared),
        modulations_(group.inputs, group.shared, tables),
        first_(first),
        text_(group.inputs.text) {
    if (inputs_.part != nullptr) part_.emplace(*inputs_.part);
    const bool is_apart = x.size(0) == shared_.all();  // since a perturbed block before these
    if (!is_apart && shared_.until_perturbed() < shared_.all()) {
      text_ = text_.Rows(0, shared_.until_perturbed());
    }
    if (text_.rows() == shared_.all()) text_.has_one_key = shared_.has_one_key();
  }

  const TextContext& text() const { return text_; }
  bool IsPerturbed(size_t block) const {
    return Contains(inputs_.perturbed, static_cast<int64_t>(block));
  }
  // Rows part in front of a perturbed block.
  void Enter(size_t block, at::Tensor& x) {
    if (!IsPerturbed(block)) return;
    if (text_.rows() < shared_.all()) text_ = inputs_.text;
    x = shared_.To(x, shared_.all());
  }
  // While the block works on so many rows.
  BlockContext At(size_t block, int64_t rows) {
    return {.rope = inputs_.rope,
            .is_perturbed = IsPerturbed(block),
            .modulation = modulations_.Of(block - first_, rows),
            .part = part_ ? &*part_ : nullptr};
  }
  // While it works on all that differ; behind it another one `follows`.
  BlockContext FedAt(size_t block, bool follows) {
    BlockContext context = At(block, text_.rows());
    if (follows) context.next = modulations_.Of(block + 1 - first_, text_.rows());
    return context;
  }
  // With the rows that the text parts.
  at::Tensor Parted(const at::Tensor& x) const { return shared_.ViewTo(x, text_.rows()); }

 private:
  const VelocityInputs& inputs_;
  const SharedRows& shared_;
  const Modulations modulations_;
  const size_t first_;
  TextContext text_;               // of the rows that differ so far
  std::optional<TokenPart> part_;  // counts this call's exchanges
};

namespace {

// What the texts say to all tokens of their rows, [B, S, D] in parts for each group; `x` has B rows
// or fewer that are shared.
std::vector<std::vector<at::Tensor>> Answers(const Ops& ops, const TransformerBlock& block,
                                             const std::vector<at::Tensor>& x,
                                             const std::vector<GroupRows>& groups, size_t index) {
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
    asking.push_back(x[i].size(0) == text.rows() ? rows[i].Asking(x[i]) : x[i]);
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
      if (x[group].size(0) != text.rows()) {
        own = rows[group].Asking(groups[group].Parted(own)).contiguous();
      }
      questions.push_back({own, keys[group], text.mask});
    }
    const std::vector<at::Tensor> answers = block.Ask(ops, questions);
    for (size_t i = 0; i < asks.size(); ++i) asked[asks[i]] = answers[i];
  }
  std::vector<std::vector<at::Tensor>> all;
  for (size_t i = 0; i < groups.size(); ++i) {
    all.push_back(rows[i].Answers(asked[i], keys[i].only, x[i].size(1)));
  }
  return all;
}

}  // namespace

BlockWalk::BlockWalk(const std::vector<TransformerBlock>& blocks, const at::Tensor& tables,
                     std::vector<StepGroup> groups, std::vector<at::Tensor> x, Range range)
    : blocks_(blocks), groups_(std::move(groups)), at_(range.first), end_(range.end) {
  const at::Tensor own =
      tables.slice(0, static_cast<int64_t>(range.first), static_cast<int64_t>(range.end));
  rows_.reserve(groups_.size());
  for (size_t i = 0; i < groups_.size(); ++i) {
    rows_.emplace_back(groups_[i], x[i], own, range.first);
  }
  input_.x = std::move(x);
}

BlockWalk::~BlockWalk() = default;

void BlockWalk::Next(const Ops& ops) {
  const TransformerBlock& block = blocks_[at_];
  std::vector<BlockContext> contexts;
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].Enter(at_, input_.x[i]);
    contexts.push_back(rows_[i].At(at_, input_.x[i].size(0)));
  }
  std::vector<at::Tensor> own = block.AttendSelf(ops, input_, contexts);
  const auto answers = Answers(ops, block, own, rows_, at_);
  // The first block ends as it does where the others are left out, and so does one behind which
  // rows part.
  const bool goes_on = at_ > 0 && at_ + 1 < end_ && !rows_[0].IsPerturbed(at_ + 1);
  contexts.clear();
  for (size_t i = 0; i < rows_.size(); ++i) {
    own[i] = rows_[i].Parted(own[i]);
    contexts.push_back(rows_[i].FedAt(at_, goes_on));
  }
  input_ = block.Feed(ops, own, answers, contexts);
  ++at_;
}

}  // namespace reel::model::ltx
