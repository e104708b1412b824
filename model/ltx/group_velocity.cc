// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/group_velocity.h"

#include <algorithm>
#include <utility>

#include "model/bridge/rank_run.h"
#include "model/ltx/denoiser.h"

namespace reel::model::ltx {
namespace {

constexpr int kRanks = 2;

// Of the rows of the request's text.
RowRange TextRowsOf(const Attempt& attempt, const RowRange& range) {
  const bool lacks_negative = attempt.state.text_has_negative && !attempt.point().uses_negative();
  return {range.first + (lacks_negative ? 1 : 0), range.count};
}

}  // namespace

GroupVelocity::GroupVelocity(RankCrew& crew, VelocityGraphs& first,
                             const std::vector<const Transformer*>& peers)
    : crew_(crew), first_(first) {
  for (int rank = 0; rank < crew.size(); ++rank) {
    shared_texts_.push_back(std::make_unique<SharedText>());
    if (rank == 0) continue;
    peers_.push_back(std::make_unique<VelocityGraphs>(*peers[static_cast<size_t>(rank) - 1],
                                                      MakeGraphRecorder(crew.device(rank))));
  }
}

GroupVelocity::~GroupVelocity() = default;

void GroupVelocity::ForgetKept() {
  crew_.Run([this](int rank) {
    if (rank > 0) velocity(rank).Forget();
    *shared_texts_[static_cast<size_t>(rank)] = SharedText();
  });
}

bool GroupVelocity::Divides(const Company& attempts) {
  return std::any_of(attempts.begin(), attempts.end(),
                     [](const Attempt* attempt) { return attempt->point().rows() > 1; });
}

at::Tensor GroupVelocity::On(int rank, const at::Tensor& x) const {
  return x.defined() ? x.to(crew_.device(rank), /*non_blocking=*/true) : x;
}

RankShare& GroupVelocity::ShareOf(int rank, Attempt& attempt, const RowRange& range) const {
  DenoiseState& state = attempt.state;
  state.shares.resize(kRanks);
  RankShare& share = state.shares[static_cast<size_t>(rank)];
  const RowRange rows = TextRowsOf(attempt, range);
  const at::Tensor& text = state.text.blocks[0].k;
  if (!share.of_text.is_same(text) || share.rows != rows) {
    TextContext own = state.text.Rows(rows.first, rows.count);
    own.mask = {On(rank, own.mask.bias), On(rank, own.mask.lengths)};
    for (TextKeys& keys : own.blocks) {
      keys = {On(rank, keys.k), On(rank, keys.v), On(rank, keys.only)};
    }
    share.text = std::move(own);
    share.of_text = text;
    share.rows = rows;
  }
  if (!share.of_rope.is_same(state.rope.index())) {
    share.rope = state.rope.To(crew_.device(rank));
    share.of_rope = state.rope.index();
  }
  const at::Tensor& time_of = attempt.times.of_token;
  if (!share.of_time.is_same(time_of)) {
    share.time_of = On(rank, time_of);
    share.of_time = time_of;
  }
  return share;
}

GroupVelocity::Part GroupVelocity::PartOf(int rank, const Company& attempts) {
  Part part;
  std::vector<at::Tensor> x;
  std::vector<TextContext> texts;
  std::vector<int64_t> rows;
  const RankShare* share = nullptr;
  for (Attempt* attempt : attempts) {
    const RowRange range = RowsOfRank(attempt->point(), rank);
    if (range.count == 0) continue;
    part.attempts.push_back(attempt);
    part.ranges.push_back(range);
    share = &ShareOf(rank, *attempt, range);
    x.push_back(attempt->x.to(first_.transformer().dtype()));
    texts.push_back(share->text);
    rows.push_back(range.count);
  }
  if (part.attempts.empty()) return part;
  const bool alone = part.attempts.size() == 1;
  const Attempt& first = *part.attempts.front();
  const GuidancePoint& point = first.point();  // that of all perturbs nothing where several
  const StepTimes times = alone ? first.times : Joined(part.attempts);
  const RowRange& range = part.ranges.front();
  const bool has_perturbed = point.uses_perturbed() && range.first + range.count == point.rows();
  part.inputs = {.x = On(rank, alone ? x[0] : at::cat(x)),
                 .time = {On(rank, times.rows.embedded), On(rank, times.rows.rows)},
                 .time_of = alone ? share->time_of : On(rank, times.of_token),
                 .rope = share->rope,
                 .text = alone ? texts[0] : shared_texts_[static_cast<size_t>(rank)]->Of(texts),
                 .rows = rows,
                 .perturbed = has_perturbed ? point.blocks : std::vector<int64_t>()};
  return part;
}

void GroupVelocity::Compute(const Ops& ops, std::vector<Part>& parts) {
  RunOnRanks(crew_, ops, [&](int rank, const Ops& by) {
    Part& part = parts[static_cast<size_t>(rank)];
    if (!part.attempts.empty()) part.made = velocity(rank)(by, part.inputs);
  });
}

std::vector<at::Tensor> GroupVelocity::operator()(const Ops& ops, const Company& attempts) {
  // What ranks are given is on its way before the first of them has anything to do: a copy stands
  // in the order of the device that it comes from.
  std::vector<Part> parts;
  for (int rank = crew_.size() - 1; rank >= 0; --rank) {
    parts.insert(parts.begin(), PartOf(rank, attempts));
  }
  Compute(ops, parts);
  std::vector<size_t> next(parts.size(), 0);  // attempt of a part
  std::vector<int64_t> row(parts.size(), 0);  // of what it has made
  for (size_t rank = 1; rank < parts.size(); ++rank) parts[rank].made = On(0, parts[rank].made);
  std::vector<at::Tensor> velocities;
  for (const Attempt* attempt : attempts) {
    std::vector<std::pair<int64_t, at::Tensor>> own;  // by their first row
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      const Part& part = parts[rank];
      if (next[rank] == part.attempts.size() || part.attempts[next[rank]] != attempt) continue;
      const RowRange& range = part.ranges[next[rank]++];
      own.emplace_back(range.first, part.made.slice(0, row[rank], row[rank] + range.count));
      row[rank] += range.count;
    }
    std::sort(own.begin(), own.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<at::Tensor> rows;
    for (const auto& [first, made] : own) rows.push_back(made);
    velocities.push_back(rows.size() == 1 ? rows[0] : at::cat(rows));
  }
  return velocities;
}

}  // namespace reel::model::ltx
