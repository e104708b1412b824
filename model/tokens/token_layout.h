// SPDX-License-Identifier: Apache-2.0
// The rows of a transformer's call: which video and guidance row each one is, which of them are
// still equal, which ask their text, and where they lie in the tensors of the call.
#pragma once

#include <cstdint>
#include <vector>

#include "model/bridge/aten.h"
#include "model/tokens/rank_tokens.h"

namespace reel::model {

// Videos with equally many tokens. A video has one row or more, which differ in their guidance:
// negative prompt, prompt, perturbed prompt.
struct TokenGroup {
  int64_t tokens = 0;             // of a row; with ranks, this rank's
  std::vector<int64_t> rows;      // of each video
  std::vector<bool> has_one_key;  // of each row, video by video: the answer of its text is known
  int64_t given = 0;      // rows of the group's tensor at first: one a video, or those that differ
  bool perturbs = false;  // the last row of a lone video equals the one before it at first
  RankTokens ranks = {};
};

// A value for one call of a transformer, or for one stream of tokens of it. A tensor of the call is
// [B, S, ...] where there is one group; the rows of several stand one behind the other,
// [1, N, ...]. Views are views of what they are given wherever rows are neighbours.
//
// The rows of a video are equal up to its text, and a perturbed one equals the prompt's up to the
// first perturbed block. Equal rows are one row of a tensor until they are split.
class TokenLayout {
 public:
  enum class Order {
    kByVideo,      // the rows of the first video, then of the next
    kAskingFirst,  // rows that ask their text first, where several videos have several rows
  };

  TokenLayout(std::vector<TokenGroup> groups, Order order);

  size_t groups() const { return groups_.size(); }
  // Of a group: rows that are apart now, rows whose texts differ so far, and all of them.
  int64_t rows(size_t group) const { return groups_[group].now; }
  int64_t text_rows(size_t group) const { return groups_[group].by_text; }
  int64_t all_rows(size_t group) const { return groups_[group].all; }
  int64_t tokens(size_t group) const { return groups_[group].tokens; }

  // One tensor of the groups' [B, S, ...], and one group's part of such a tensor: a view.
  static at::Tensor Join(const std::vector<at::Tensor>& parts);
  at::Tensor Group(const at::Tensor& x, size_t group) const {
    return Part(x, group, &GroupState::now);
  }

  // Splits the rows of x that their texts tell apart; a view where one video is alone. From then on
  // each of them has its own row.
  at::Tensor SplitByText(const at::Tensor& x);
  // The same for a perturbed row, in front of the first perturbed block: all rows are apart.
  at::Tensor SplitPerturbed(const at::Tensor& x);
  bool is_split_by_text() const;

  // A group's x [videos or rows so far, ...] for each row that is apart now, and for all rows: a
  // view where one video is alone.
  at::Tensor ForRows(const at::Tensor& x, size_t group) const {
    return groups_[group].ViewTo(x, groups_[group].now);
  }
  at::Tensor ForAllRows(const at::Tensor& x, size_t group) const {
    return groups_[group].ViewTo(x, groups_[group].all);
  }
  // All rows, each with memory of its own.
  at::Tensor AllRows(const at::Tensor& x, size_t group) const {
    return groups_[group].To(x, groups_[group].all);
  }
  // A group's rows of a tensor of the call in which all rows are apart, video by video.
  at::Tensor ByVideo(const at::Tensor& x, size_t group) const;
  // Indices of each group, int32 [videos or 1, S, ...], into a table of `sizes[group]` rows, to
  // indices of each row into all tables one behind the other: which time, or place, a token takes.
  at::Tensor JoinIndices(const std::vector<at::Tensor>& of_groups,
                         const std::vector<int64_t>& sizes) const;

  // A row whose text has one key gets the same answer for every token and needs no queries.
  bool asks(size_t group) const { return groups_[group].asking > 0; }
  // Rows of x that queries are made of: all that ask, one for rows that are equal. Undefined: none.
  at::Tensor AskingRows(const at::Tensor& x) const;
  // Of the queries of AskingRows: a query for each asking row of a group, [A, S, D].
  at::Tensor Questions(const at::Tensor& queries, size_t group) const;
  // Answers for all rows, in few parts of neighbouring rows: of the asking rows of all groups, one
  // behind the other (Join), and per group [B - A, 1, D] of the others, one for all tokens.
  std::vector<at::Tensor> Answers(const at::Tensor& asked,
                                  const std::vector<at::Tensor>& known) const;
  // Of `all` rows of a group's texts: those that ask, in order, and the others.
  at::Tensor Asking(const at::Tensor& all, size_t group) const {
    return groups_[group].Of(all, true);
  }
  at::Tensor Known(const at::Tensor& all, size_t group) const {
    return groups_[group].Of(all, false);
  }

  // Keys and values of all ranks' tokens of a group, where ranks divide them: RankTokens::OfAll.
  RankTokens::KeysAndValues OfAllRanks(const RankTokens::KeysAndValues& own, size_t group,
                                       int64_t& exchanges) const;

 private:
  // Neighbours that do the same.
  struct Run {
    bool asks = false;
    int64_t first = 0, count = 0;
  };
  // Of a group.
  struct GroupState {
    GroupState(TokenGroup group, Order order);
    void PutAskingFirst();
    void SetTextRows(int64_t count);
    void SetNow(int64_t count);
    at::Tensor To(const at::Tensor& x, int64_t count) const;
    at::Tensor ViewTo(const at::Tensor& x, int64_t count) const;
    at::Tensor Of(const at::Tensor& all_rows, bool asks) const;

    int64_t tokens = 0, videos = 0, all = 0;
    int64_t now = 0;                   // apart
    int64_t by_text = 0;               // that texts tell apart
    int64_t asking = 0;                // of those
    int64_t queried = 0;               // for which queries are made
    std::vector<int64_t> video_of;     // of each row
    std::vector<int64_t> position_of;  // of each row in the order of videos; empty: its own
    std::vector<bool> has_one_key;     // of each row
    std::vector<Run> runs;             // of the rows that texts tell apart
    RankTokens ranks;
  };

  // A group's part of a tensor in which each group has as many rows as `count` says.
  at::Tensor Part(const at::Tensor& x, size_t group, int64_t GroupState::* count) const;

  std::vector<GroupState> groups_;
};

}  // namespace reel::model
