// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/rank_inputs.h"

namespace reel::model::ltx2 {
namespace {

constexpr int64_t kQueries = 2;  // a dimension of SelfBias

at::Tensor There(const at::Tensor& x, const RankTokens& part) {
  return x.defined() ? x.to(part.crew->device(part.rank), /*non_blocking=*/true) : x;
}

// Of x [B, S, ...], which may be undefined.
at::Tensor OwnThere(const at::Tensor& x, const RankTokens& part) {
  return There(part.Own(x), part);
}

StreamTimes TimesThere(const StreamTimes& times, const RankTokens& part) {
  const bool of_each_token = !times.vector_of.defined() && times.own.size(1) > 1;
  return {.own = of_each_token ? OwnThere(times.own, part) : There(times.own, part),
          .sigma = There(times.sigma, part),
          .other_sigma = There(times.other_sigma, part),
          .vector_of = OwnThere(times.vector_of, part),
          .adapters = There(times.adapters, part)};
}

// Of one stream, all of it where the part is not divided.
StreamInputs StreamThere(const StreamInputs& all, const RankTokens& part) {
  const TokenRange own = part.own();
  const auto of_tokens = [&](const RopeTable& table) {
    return (part.is_divided() ? table.Tokens(own.first, own.count) : table)
        .To(part.crew->device(part.rank));
  };
  const bool has_bias = all.self_bias.defined();
  return {.x = OwnThere(all.x, part),
          .times = TimesThere(all.times, part),
          .text = {There(all.text.tokens, part), There(all.text.bias, part)},
          .tables = {of_tokens(all.tables.own), of_tokens(all.tables.cross)},
          .self_bias = has_bias ? There(all.self_bias.narrow(kQueries, own.first, own.count), part)
                                : at::Tensor(),
          .keyframes = OwnThere(all.keyframes, part),
          .ranks = part};
}

// Of a stream that every rank has.
RankTokens WholeAt(const RankTokens& part, int64_t tokens) {
  return {part.crew, part.rank, part.rank, 1, tokens};
}

}  // namespace

VelocityInputs PartOf(const VelocityInputs& all, const RankTokens& part) {
  return {.video = StreamThere(all.video, part),
          .audio = StreamThere(all.audio, WholeAt(part, all.audio.x.size(1))),
          .is_isolated = all.is_isolated,
          .perturbed_blocks = all.perturbed_blocks,
          .adapters = There(all.adapters, part)};
}

TokensAt PartOf(const TokensAt& all, const RankTokens& part) {
  return {{OwnThere(all.tokens.video, part), There(all.tokens.audio, part)}, all.block};
}

}  // namespace reel::model::ltx2
