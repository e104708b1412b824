// SPDX-License-Identifier: Apache-2.0
// Note: [LTX-2 on a group]
// A block computes every token of the pictures alone, but for two attentions. In self attention a
// rank's queries look at the keys and values of all ranks. The sound looks at all pictures too;
// since every rank has the whole sound, each needs those keys and values, half as wide. Both are
// exchanged behind their norms and rotation. Of a row of 6,144 tokens in bf16 two ranks send each
// other 75 MB a block, while each computes 3 ms on an H100. Rows need nothing of each other, so
// they go to halves of the ranks where that is even. The other way, attending to its own tokens on
// each rank and joining what comes out, would want sums of exponentials, which libraries'
// attentions keep to themselves.
//
// Ranks exchange by copies, not by a RankLink. The calls of LTX-2 are not recorded: the host
// launches every kernel, one thread for each rank, and may ask the driver for memory in between.
// While a kernel waits for another rank, a driver call that waits for all devices would never
// return. A copy is awaited by streams alone. Launching it costs little beside a block of 22
// billion parameters.
//
// Inputs are sent anew for each call: 24 MB of texts beside seconds of computing. A walk may stop
// behind any block, since nothing of an exchange outlives its block.
#include "model/ltx2/transformer_ranks.h"

#include <utility>

#include "model/bridge/rank_run.h"

namespace reel::model::ltx2 {
namespace {

// Launched from the host, small calls take as long on several ranks as on one. On a CPU launching
// costs nothing beside computing.
constexpr int64_t kLeastDivided = 2048;
int64_t LeastDividedBy(const RankCrew& crew) { return crew.device(0).is_cpu() ? 0 : kLeastDivided; }

}  // namespace

TransformerRanks::TransformerRanks(RankCrew& crew, std::vector<const Transformer*> all,
                                   std::optional<int64_t> least_divided)
    : crew_(&crew),
      all_(std::move(all)),
      least_divided_(least_divided.value_or(LeastDividedBy(crew))) {}

CallWalk TransformerRanks::Begin(const Ops& ops, const VelocityInputs& inputs) const {
  return Begun(ops, inputs, nullptr);
}

CallWalk TransformerRanks::BeginAt(const Ops& ops, const VelocityInputs& inputs,
                                   TokensAt from) const {
  return Begun(ops, inputs, &from);
}

std::vector<RankPart> TransformerRanks::PartsOf(const VelocityInputs& inputs) const {
  const int64_t rows = inputs.video.x.size(0), tokens = inputs.video.x.size(1);
  const std::vector<RankPart> first_alone = {{RankTokens(), {0, rows}}};
  if (crew_ == nullptr) return first_alone;
  const bool in_halves = crew_->size() % 2 == 0 && rows % 2 == 0;
  const int64_t there = in_halves ? rows / 2 : rows;
  const int64_t most = there * tokens < least_divided_ ? 1 : crew_->size();
  const std::vector<RankTokens> division = RankTokens::OfCrew(*crew_, in_halves, tokens, most);
  if (!in_halves && !division[0].is_divided()) return first_alone;
  std::vector<RankPart> parts;
  for (const RankTokens& own : division) {
    parts.push_back({own, {own.first_rank == 0 ? 0 : there, there}});
  }
  return parts;
}

CallWalk TransformerRanks::Begun(const Ops& ops, const VelocityInputs& inputs,
                                 const TokensAt* from) const {
  CallWalk walk(*this, PartsOf(inputs));
  const size_t ranks = walk.parts_.size();
  std::vector<VelocityInputs> own(ranks);
  std::vector<TokensAt> own_from(ranks);
  // The first rank comes last: its device sends the others their inputs before it computes.
  for (size_t rank = ranks; rank-- > 0;) {
    const RankPart& part = walk.parts_[rank];
    if (ranks > 1 && part.is_empty()) continue;
    own[rank] = ranks == 1 ? inputs : PartOf(inputs, part);
    if (from != nullptr) own_from[rank] = ranks == 1 ? *from : PartOf(*from, part);
  }
  walk.OnRanks(ops, [&](size_t rank, const Ops& by) {
    const Transformer& transformer = *all_[rank];
    walk.walks_[rank].emplace(from == nullptr ? transformer.Begin(by, own[rank])
                                              : transformer.BeginAt(by, own[rank], own_from[rank]));
  });
  return walk;
}

CallWalk::CallWalk(TransformerRanks ranks, std::vector<RankPart> parts)
    : ranks_(std::move(ranks)), parts_(std::move(parts)), walks_(parts_.size()) {}

void CallWalk::OnRanks(const Ops& ops,
                       const std::function<void(size_t rank, const Ops& by)>& work) const {
  if (parts_.size() == 1) return work(0, ops);
  RunOnRanks(*ranks_.crew_, ops, [&](int number, const Ops& by) {
    const auto rank = static_cast<size_t>(number);
    if (!parts_[rank].is_empty()) work(rank, by);
  });
}

void CallWalk::Next(const Ops& ops) {
  OnRanks(ops, [this](size_t rank, const Ops& by) { walks_[rank]->Next(by); });
}

StreamTokens CallWalk::Tokens() const {
  std::vector<StreamTokens> made(walks_.size());
  for (size_t rank = 0; rank < walks_.size(); ++rank) {
    if (walks_[rank].has_value()) made[rank] = walks_[rank]->tokens();
  }
  return Together(made);
}

StreamTokens CallWalk::End(const Ops& ops) const {
  std::vector<StreamTokens> made(walks_.size());
  OnRanks(ops, [&](size_t rank, const Ops& by) {
    made[rank] = ranks_.all_[rank]->End(by, *walks_[rank]);
  });
  return Together(made);
}

// Every rank made the same sound of its rows, of which the first one's is taken.
StreamTokens CallWalk::Together(const std::vector<StreamTokens>& made) const {
  if (made.size() == 1) return made[0];
  const auto here = [&](const at::Tensor& x) {
    return x.to(made[0].video.device(), /*non_blocking=*/true);
  };
  std::vector<std::vector<at::Tensor>> tokens;  // of the rows of each half, or of all
  std::vector<at::Tensor> audio;                // of the same
  for (size_t rank = 0; rank < made.size(); ++rank) {
    const RankPart& part = parts_[rank];
    if (part.is_empty()) continue;
    if (part.tokens.rank == part.tokens.first_rank) {
      tokens.emplace_back();
      audio.push_back(here(made[rank].audio));
    }
    tokens.back().push_back(here(made[rank].video));
  }
  const auto joined = [](const std::vector<at::Tensor>& all, int64_t dimension) {
    return all.size() == 1 ? all[0] : at::cat(all, dimension);
  };
  std::vector<at::Tensor> video;
  for (const std::vector<at::Tensor>& of_rows : tokens) video.push_back(joined(of_rows, 1));
  return {joined(video, 0), joined(audio, 0)};
}

}  // namespace reel::model::ltx2
