// SPDX-License-Identifier: Apache-2.0
// The transformer on one device, or on every rank of a group. Each half of the ranks has half of a
// call's rows, where both are even; within a half, or all of them, they divide the pictures'
// tokens. The sound of its rows is on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/bridge/ops.h"
#include "model/bridge/rank_crew.h"
#include "model/ltx2/block_walk.h"
#include "model/ltx2/rank_inputs.h"
#include "model/ltx2/transformer.h"

namespace reel::model::ltx2 {

class CallWalk;

// A value; what it names is borrowed.
class TransformerRanks {
 public:
  TransformerRanks(const Transformer& one) : all_{&one} {}  // NOLINT: one device is a group of one
  // `all` are those of the crew's ranks. They divide rows of together at least `least_divided`
  // tokens of pictures; without a value the device decides.
  TransformerRanks(RankCrew& crew, std::vector<const Transformer*> all,
                   std::optional<int64_t> least_divided = {});

  const Transformer& first() const { return *all_[0]; }

  // As Transformer has it; inputs and tokens are on the first rank's device.
  CallWalk Begin(const Ops& ops, const VelocityInputs& inputs) const;
  CallWalk BeginAt(const Ops& ops, const VelocityInputs& inputs, TokensAt from) const;

 private:
  friend class CallWalk;

  CallWalk Begun(const Ops& ops, const VelocityInputs& inputs, const TokensAt* from) const;
  // The parts of a call by rank; one part if the first rank computes it alone.
  std::vector<RankPart> PartsOf(const VelocityInputs& inputs) const;

  RankCrew* crew_ = nullptr;  // null on one device
  std::vector<const Transformer*> all_;
  int64_t least_divided_ = 0;
};

// One call block by block, on all ranks that have tokens of it. A call that throws is over.
class CallWalk {
 public:
  bool done() const { return walks_[0]->done(); }
  // The next block's number.
  size_t at() const { return walks_[0]->at(); }
  void Next(const Ops& ops);

  // All tokens behind the blocks so far, on the first rank's device.
  StreamTokens Tokens() const;
  // Once done: as Transformer::End.
  StreamTokens End(const Ops& ops) const;

 private:
  friend class TransformerRanks;

  CallWalk(TransformerRanks ranks, std::vector<RankPart> parts);
  // Of each rank that has tokens.
  void OnRanks(const Ops& ops, const std::function<void(size_t rank, const Ops& by)>& work) const;
  // What the ranks made of their tokens, on the first one's device.
  StreamTokens Together(const std::vector<StreamTokens>& made) const;

  TransformerRanks ranks_;
  std::vector<RankPart> parts_;                  // by rank; one for a call of the first rank alone
  std::vector<std::optional<BlockWalk>> walks_;  // of the same; unset: the rank has no tokens
};

}  // namespace reel::model::ltx2
