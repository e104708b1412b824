// SPDX-License-Identifier: Apache-2.0
// The layout of a transformer's call. It says which row belongs to which video and guidance, which
// rows are still equal, which attend to their text, and where each is in the tensors.
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
  int64_t given = 0;              // rows of the first tensor; 0: one for each video
  bool perturbs = false;          // a lone video's last row equals the one before it at first
  RankTokens ranks = {};
};

// A value for one call, or for one stream of tokens in a call. A tensor of a call with one group is
// [B, S, ...]; with several groups their rows stand one behind the other, [1, N, ...]. Results are
// views wherever rows are neighbours.
//
// The rows of a video are equal up to its text, and a perturbed row equals the prompt's up to the
// first perturbed block. Equal rows are one row of a tensor until they are split.
class TokenLayout {
 public:
  enum class Order {
    kByVideo,      // the rows of the first video, then of the next
    kAskingFirst,  // rows that ask their text first, where several videos have several rows
  };

  TokenLayout(std::vector<TokenGroup> groups, Order order);

  size_t groups() const { return groups_.size(); }
  // Rows of a group: those that are apart now, those that texts tell apart so far, and all.
  int64_t rows(size_t group) const { return groups_[group].now; }
  int64_t text_rows(size_t group) const { return groups_[group].by_text; }
  int64_t all_rows(size_t group) const { return groups_[group].all; }
  int64_t tokens(size_t group) const { return groups_[group].tokens; }

  // Joins the groups' tensors [B, S, ...] to one of the call; a group's part of one is a view.
  static at::Tensor Join(const std::vector<at::Tensor>& parts);
  at::Tensor Group(const at::Tensor& x, size_t group) const {
    return Part(x, group, &GroupState::now);
  }

  // Gives each row of x that texts tell apart a row of its own; a view where one video is alone.
  at::Tensor SplitByText(const at::Tensor& x);
  // The same for the perturbed row, before the first perturbed block. All rows are then apart.
  at::Tensor SplitPerturbed(const at::Tensor& x);
  bool is_split_by_text() const;

  // From a group's x [videos or rows so far, ...] to one for each row that is apart now, or for all
  // rows; a view where one video is alone.
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
  // Joins the indices of groups, which say the time or place of a token. A group's indices, int32
  // [videos or 1, S, ...], point into its table of `sizes[group]` rows; the result points into all
  // tables, concatenated.
  at::Tensor JoinIndices(const std::vector<at::Tensor>& of_groups,
                         const std::vector<int64_t>& sizes) const;

  // Whether any row asks. A text with one key answers every token alike and needs no queries.
  bool asks(size_t group) const { return groups_[group].asking > 0; }
  // The rows of x that become queries: those that ask, equal ones once. Undefined: none asks.
  at::Tensor AskingRows(const at::Tensor& x) const;
  // From the queries of AskingRows to those of each asking row of a group, [A, S, D].
  at::Tensor Questions(const at::Tensor& queries, size_t group) const;
  // The answers for all rows, in few parts of neighbouring rows. `asked` has those of the asking
  // rows of all groups (Join), `known` those of the other rows of each group, [B - A, 1, D], one
  // for all tokens.
  std::vector<at::Tensor> Answers(const at::Tensor& asked,
                                  const std::vector<at::Tensor>& known) const;
  // From tensors of all rows of a group's texts to the rows that ask, and to the others.
  at::Tensor Asking(const at::Tensor& all, size_t group) const {
    return groups_[group].Of(all, true);
  }
  at::Tensor Known(const at::Tensor& all, size_t group) const {
    return groups_[group].Of(all, false);
  }

  // Keys and values of all ranks' tokens, if ranks divide the group's (RankTokens::OfAll); counts
  // the call's exchanges.
  RankTokens::KeysAndValues OfAllRanks(const RankTokens::KeysAndValues& own, size_t group,
                                       int64_t& exchanges) const;

 private:
  // Neighbouring rows that all ask, or all do not.
  struct Run {
    bool asks = false;
    int64_t first = 0, count = 0;
  };
  // The state of one group.
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
