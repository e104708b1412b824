// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/rank_inputs.h"

#include <algorithm>
#include <vector>

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kQueries = 2;  // a dimension of a bias

at::Tensor There(const at::Tensor& x, const RankPart& part) {
  const RankTokens& ranks = part.tokens;
  return x.defined() ? x.to(ranks.crew->device(ranks.rank), /*non_blocking=*/true) : x;
}

// The part's rows of x [B, ...], on its device. x may be undefined.
at::Tensor RowsThere(const at::Tensor& x, const RankPart& part) {
  return x.defined() ? There(x.narrow(0, part.rows.first, part.rows.count), part) : x;
}

// The part's rows and tokens of x [B, S, ...], on its device. x may be undefined.
at::Tensor OwnThere(const at::Tensor& x, const RankPart& part) {
  if (!x.defined()) return x;
  return There(part.tokens.Own(x.narrow(0, part.rows.first, part.rows.count)), part);
}

StreamTimes TimesThere(const StreamTimes& times, const RankPart& part) {
  StreamTimes own = {.own = {},
                     .sigma = RowsThere(times.sigma, part),
                     .other_sigma = RowsThere(times.other_sigma, part),
                     .vector_of = OwnThere(times.vector_of, part),
                     .adapters = There(times.adapters, part)};
  if (times.vector_of.defined()) {
    own.own = There(times.own, part);  // of all rows
  } else {
    const bool of_each_token = times.own.size(1) > 1;
    own.own = of_each_token ? OwnThere(times.own, part) : RowsThere(times.own, part);
  }
  return own;
}

// The biases of the part's own queries. `first` counts from the part's first token.
std::vector<QueryBias> BiasThere(const std::vector<QueryBias>& all, const RankPart& part) {
  const TokenRange own = part.tokens.own();
  std::vector<QueryBias> there;
  for (const QueryBias& of : all) {
    const int64_t first = std::max(of.first, own.first);
    const int64_t count = std::min(of.first + of.count, own.first + own.count) - first;
    if (count <= 0) continue;
    const bool is_of_each = of.bias.size(kQueries) > 1;
    const at::Tensor bias =
        is_of_each ? of.bias.narrow(kQueries, first - of.first, count) : of.bias;
    there.push_back({first - own.first, count, RowsThere(bias, part)});
  }
  return there;
}

// A stream's inputs for a part; if its tokens are not divided, all of them.
StreamInputs StreamThere(const StreamInputs& all, const RankPart& part) {
  const RankTokens& ranks = part.tokens;
  const TokenRange own = ranks.own();
  const auto of_tokens = [&](const RopeTable& table) {
    return (ranks.is_divided() ? table.Tokens(own.first, own.count) : table)
        .To(ranks.crew->device(ranks.rank));
  };
  return {.x = OwnThere(all.x, part),
          .times = TimesThere(all.times, part),
          .text = {RowsThere(all.text.tokens, part), RowsThere(all.text.bias, part)},
          .tables = {of_tokens(all.tables.own), of_tokens(all.tables.cross)},
          .self_bias = BiasThere(all.self_bias, part),
          .keyframes = OwnThere(all.keyframes, part),
          .ranks = ranks};
}

// A part with all tokens of a stream, for the sound, which every rank has whole.
RankPart WholeAt(const RankPart& part, int64_t tokens) {
  return {{part.tokens.crew, part.tokens.rank, part.tokens.rank, 1, tokens}, part.rows};
}

}  // namespace

VelocityInputs PartOf(const VelocityInputs& all, const RankPart& part) {
  return {.video = StreamThere(all.video, part),
          .audio = StreamThere(all.audio, WholeAt(part, all.audio.x.size(1))),
          .is_isolated = all.is_isolated,
          .perturbed_blocks = all.perturbed_blocks,
          .adapters = RowsThere(all.adapters, part)};
}

TokensAt PartOf(const TokensAt& all, const RankPart& part) {
  return {{OwnThere(all.tokens.video, part), RowsThere(all.tokens.audio, part)}, all.block};
}

}  // namespace reel::model::ltx2
