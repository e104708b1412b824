// SPDX-License-Identifier: Apache-2.0
// A call of the transformer divided between the ranks of a group: an even number of them has the
// rows of a guided step by halves, and the ranks of a half, or all, divide the tokens. What they
// say comes together on the first one's device, where the step ends as on one.
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
  using Company = std::vector<Attempt*>;

  // Rows of tokens below which ranks do not divide tokens: Note: [Small clips of a group].
  static int64_t LeastDividedBy(const RankCrew& crew);

  // All borrowed: `first` is the first rank's, `peers` are the transformers of the others.
  GroupVelocity(RankCrew& crew, VelocityGraphs& first, const std::vector<const Transformer*>& peers,
                int64_t least_divided);
  ~GroupVelocity();

  // What the transformer says of each one's rows, [point.rows(), S, C] on the first rank's device.
  std::vector<at::Tensor> operator()(const Ops& ops, const Company& attempts);
  // For what ranks exchange, at each of them.
  int64_t kept_bytes() const { return crew_.link() == nullptr ? 0 : crew_.link()->bytes(); }
  // What the ranks hold of earlier calls, graphs of the first one too.
  void ForgetKept();

 private:
  // Of one rank.
  struct Part {
    const RankTokens* tokens = nullptr;
    Company attempts;              // that have rows there
    std::vector<RowRange> ranges;  // of each
    VelocityInputs inputs;
    at::Tensor made;
  };

  // What calls have in common of which each has the same kernels.
  struct CallKind {
    std::string plan;
    std::vector<int64_t> rows;  // of each attempt
    int64_t tokens = 0;
    bool operator==(const CallKind&) const = default;
  };

  // Whether the rows are the halves', and not every rank's.
  bool InHalves(const Company& attempts) const;
  // How many ranks may divide the tokens.
  int64_t MostRanks(const Company& attempts, bool in_halves) const;
  // The link, where the ranks of this call are to exchange by it: Note: [Exchanges of a group].
  RankLink* LinkOf(const Ops& ops, const Company& attempts, bool in_halves);
  // False the first time.
  bool CameBefore(CallKind kind);
  void ForgetGraphs();
  Part PartOf(const RankTokens& tokens, bool in_halves, const Company& attempts);
  RankShare& ShareOf(const RankTokens& tokens, Attempt& attempt, const RowRange& range) const;
  at::Tensor On(int rank, const at::Tensor& x) const;
  void Compute(const Ops& ops, std::vector<Part>& parts);
  // What ranks that have the same rows have made of all tokens.
  at::Tensor MadeBy(const std::vector<Part>& parts, const RankTokens& tokens) const;
  std::vector<at::Tensor> Together(const std::vector<Part>& parts, const Company& attempts) const;
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
