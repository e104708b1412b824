// SPDX-License-Identifier: Apache-2.0
// Divides a call of the transformer between the ranks of a group. An even number of ranks has the
// rows of a guided step by halves; the ranks of a half, or all, divide the tokens. The velocities
// are joined on the first rank's device, where the step ends as on one device.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/bridge/ops.h"
#include "model/bridge/rank_crew.h"
#include "model/ltx/step_attempt.h"
#include "model/ltx/transformer.h"
#include "model/ltx/velocity_graphs.h"

namespace reel::model::ltx {

class JoinedTexts;

// Confined to the engine thread.
class GroupVelocity {
 public:
  using Attempts = std::vector<Attempt*>;

  // Steps with fewer rows of tokens are not divided by tokens: Note: [Small clips of a group].
  static int64_t LeastDividedBy(const RankCrew& crew);

  // All borrowed: `first` is the first rank's, `all` are the transformers of all ranks.
  GroupVelocity(RankCrew& crew, VelocityGraphs& first, const std::vector<const Transformer*>& all,
                int64_t least_divided);
  ~GroupVelocity();

  // The velocities of each video's rows, [point.rows(), S, C] on the first rank's device.
  std::vector<at::Tensor> operator()(const Ops& ops, const Attempts& attempts);
  // Memory for exchanges, at each rank.
  int64_t kept_bytes() const { return crew_.link() == nullptr ? 0 : crew_.link()->bytes(); }
  // Drops what the ranks keep of earlier calls, and the graphs of all of them.
  void ForgetKept();

 private:
  // A rank's part of a call. Without inputs of any video it has nothing to compute.
  struct Part {
    RankTokens tokens;
    std::vector<size_t> videos;    // with rows there: positions among all
    std::vector<RowRange> ranges;  // of each
    VelocityInputs inputs;
    at::Tensor made;
  };

  // Calls of equal kinds run the same kernels.
  struct CallKind {
    std::string plan;
    std::vector<int64_t> rows;  // of each attempt
    int64_t tokens = 0;
    bool operator==(const CallKind&) const = default;
  };

  // Whether each half of the ranks has rows of its own; otherwise every rank has all rows.
  bool InHalves(const Attempts& attempts) const;
  // How many ranks may divide the tokens.
  int64_t MostRanks(const Attempts& attempts, bool in_halves) const;
  // The link, if this call's ranks are to exchange by it: Note: [Exchanges of a group].
  RankLink* LinkOf(const Ops& ops, const Attempts& attempts, bool in_halves);
  // False the first time.
  bool CameBefore(CallKind kind);
  void ForgetGraphs();
  Part PartOf(const RankTokens& tokens, bool in_halves, const Attempts& attempts);
  RankShare& ShareOf(const RankTokens& tokens, Attempt& attempt, const RowRange& range) const;
  at::Tensor On(int rank, const at::Tensor& x) const;
  void Compute(const Ops& ops, std::vector<Part>& parts);
  // The velocities of all tokens, from the ranks that have the same rows.
  at::Tensor MadeBy(const std::vector<Part>& parts, const RankTokens& tokens) const;
  std::vector<at::Tensor> Together(const std::vector<Part>& parts, size_t videos) const;
  VelocityGraphs& velocity(int rank) {
    return rank == 0 ? first_ : *peers_[static_cast<size_t>(rank) - 1];
  }

  RankCrew& crew_;
  VelocityGraphs& first_;
  const int64_t least_divided_;
  std::deque<CallKind> kinds_;  // of divided calls, the latest first
  std::vector<std::unique_ptr<VelocityGraphs>> peers_;
  std::vector<std::unique_ptr<JoinedTexts>> joined_texts_;  // of the ranks
};

}  // namespace reel::model::ltx
