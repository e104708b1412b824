// SPDX-License-Identifier: Apache-2.0
// Note: [Small clips of a group]
// Each block exchanges keys and values, which costs a small clip more than dividing its tokens
// saves. Recorded calls with a link, on four H100: a guided clip of 1,120 tokens takes 0.72 of the
// time of two, one of 256 tokens 1.12. Without guidance two and four take 0.75 and 0.60 of the time
// of one for 1,120 tokens, 1.10 and 1.16 for 256. By copies the host launches every kernel, which
// takes 10 to 25 ms, so that the least number of tokens is higher. A call with fewer rows of tokens
// runs on one rank, or on one of each half. On a CPU launching costs nothing beside computing.
//
// Note: [Exchanges of a group]
// Where devices reach each other's memory, ranks exchange by a RankLink, and each rank's call is a
// graph. While a rank waits for others in the middle of its call, nothing may wait for its whole
// device, as libraries do when they initialise themselves. So a call of a new kind exchanges by
// copies, which wait for no device. The next call overwrites the link's memory. It is safe: at
// every rank that call starts behind tokens that the first rank sent, and the first rank starts
// behind all velocities of the call before.
#include "model/ltx/group_velocity.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/bridge/rank_run.h"
#include "model/ltx/step_inputs.h"

namespace reel::model::ltx {
namespace {

// The rows of the request's text for those rows of a step.
RowRange TextRowsOf(const Attempt& attempt, const RowRange& range) {
  const bool lacks_negative = attempt.state.text_has_negative && !attempt.point().uses_negative();
  return {range.first + (lacks_negative ? 1 : 0), range.count};
}

// The first half of the ranks has the prompt's row and the perturbed one, which equals the prompt's
// for most of its way. The second has the other row, if there is one: beside steps of several rows
// a step of one row is the first half's.
RowRange RowsOfHalf(const GuidancePoint& point, int half) {
  const int64_t rows = point.rows();
  if (rows == 1) return {0, half == 0 ? 1 : 0};
  if (point.uses_negative()) return half == 0 ? RowRange{1, rows - 1} : RowRange{0, 1};
  return {half, 1};  // the prompt, and perturbed
}

// The rows of a step that a rank has.
RowRange RowsAt(const GuidancePoint& point, bool in_halves, int half) {
  return in_halves ? RowsOfHalf(point, half) : RowRange{0, point.rows()};
}

}  // namespace

int64_t GroupVelocity::LeastDividedBy(const RankCrew& crew) {
  constexpr int64_t kByLink = 512, kByCopies = 2048;
  if (crew.device(0).is_cpu()) return 0;
  return crew.link() != nullptr ? kByLink : kByCopies;
}

GroupVelocity::GroupVelocity(RankCrew& crew, VelocityGraphs& first,
                             const std::vector<const Transformer*>& all, int64_t least_divided)
    : crew_(crew), first_(first), least_divided_(least_divided) {
  for (int rank = 0; rank < crew.size(); ++rank) {
    joined_texts_.push_back(std::make_unique<JoinedTexts>());
    if (rank == 0) continue;
    peers_.push_back(std::make_unique<VelocityGraphs>(*all[static_cast<size_t>(rank)],
                                                      MakeGraphRecorder(crew.device(rank))));
  }
}

GroupVelocity::~GroupVelocity() = default;

void GroupVelocity::ForgetGraphs() {
  crew_.Run([this](int rank) { velocity(rank).Forget(); });
}

void GroupVelocity::ForgetKept() {
  ForgetGraphs();
  for (const auto& texts : joined_texts_) *texts = JoinedTexts();
  if (crew_.link() != nullptr) crew_.link()->Forget();
}

bool GroupVelocity::CameBefore(CallKind kind) {
  constexpr size_t kMostKinds = 64;
  const auto found = std::find(kinds_.begin(), kinds_.end(), kind);
  const bool came = found != kinds_.end();
  if (came) kinds_.erase(found);
  kinds_.push_front(std::move(kind));
  if (kinds_.size() > kMostKinds) kinds_.pop_back();
  return came;
}

RankLink* GroupVelocity::LinkOf(const Ops& ops, const Attempts& attempts, bool in_halves) {
  RankLink* const link = crew_.link();
  if (link == nullptr) return nullptr;
  CallKind kind{ops.run().plan.name(), {}, attempts.front()->x.size(1)};
  int64_t first = 0, second = 0;  // half
  for (const Attempt* attempt : attempts) {
    const GuidancePoint& point = attempt->point();
    kind.rows.push_back(point.rows());
    first += RowsAt(point, in_halves, 0).count;
    second += RowsAt(point, in_halves, 1).count;
  }
  const TransformerConfig& config = first_.transformer().config();
  const int64_t bytes = std::max(first, second) * kind.tokens * 2 * config.width() *
                        static_cast<int64_t>(at::elementSize(first_.transformer().dtype()));
  if (bytes > VelocityGraphs::Cache::kMostBytes || !CameBefore(std::move(kind))) return nullptr;
  if (link->Reserve(bytes)) ForgetGraphs();
  return link;
}

bool GroupVelocity::InHalves(const Attempts& attempts) const {
  return crew_.size() % 2 == 0 &&
         std::any_of(attempts.begin(), attempts.end(),
                     [](const Attempt* attempt) { return attempt->point().rows() > 1; });
}

int64_t GroupVelocity::MostRanks(const Attempts& attempts, bool in_halves) const {
  int64_t rows = 0;
  for (const Attempt* attempt : attempts) rows += attempt->point().rows() * attempt->x.size(1);
  return rows / (in_halves ? 2 : 1) < least_divided_ ? 1 : crew_.size();
}

at::Tensor GroupVelocity::On(int rank, const at::Tensor& x) const {
  return x.defined() ? x.to(crew_.device(rank), /*non_blocking=*/true) : x;
}

RankShare& GroupVelocity::ShareOf(const RankTokens& tokens, Attempt& attempt,
                                  const RowRange& range) const {
  const int rank = tokens.rank;
  const TokenRange own = tokens.own();
  DenoiseState& state = attempt.state;
  state.shares.resize(static_cast<size_t>(crew_.size()));
  RankShare& share = state.shares[static_cast<size_t>(rank)];
  const RowRange rows = TextRowsOf(attempt, range);
  const at::Tensor& text = state.text.keys.k;
  if (!share.of_text.is_same(text) || share.rows != rows) {
    share.text = state.text.Rows(rows.first, rows.count).With([&](const at::Tensor& t) {
      return On(rank, t);
    });
    share.of_text = text;
    share.rows = rows;
  }
  if (share.tokens != own) {
    share.of_rope = share.of_time = share.time_of = at::Tensor();
    share.tokens = own;
  }
  if (!share.of_rope.is_same(state.rope.index())) {
    const RopeTable& all = state.rope;
    share.rope =
        (tokens.is_divided() ? all.Tokens(own.first, own.count) : all).To(crew_.device(rank));
    share.of_rope = state.rope.index();
  }
  const at::Tensor& time_of = attempt.times.of_token;
  if (!share.of_time.is_same(time_of)) {
    share.time_of = On(rank, tokens.Own(time_of));
    share.of_time = time_of;
  }
  return share;
}

GroupVelocity::Part GroupVelocity::PartOf(const RankTokens& tokens, bool in_halves,
                                          const Attempts& attempts) {
  Part part{.tokens = tokens, .videos = {}, .ranges = {}, .inputs = {}, .made = {}};
  if (tokens.own().count == 0) return part;
  std::vector<StepInputs> videos;
  const RankShare* share = nullptr;
  for (size_t i = 0; i < attempts.size(); ++i) {
    Attempt& attempt = *attempts[i];
    const RowRange range = RowsAt(attempt.point(), in_halves, tokens.first_rank == 0 ? 0 : 1);
    if (range.count == 0) continue;
    part.videos.push_back(i);
    part.ranges.push_back(range);
    share = &ShareOf(tokens, attempt, range);
    videos.push_back(
        {&attempt, tokens.Own(attempt.x).to(first_.transformer().dtype()), share->text});
  }
  if (videos.empty()) return part;
  const int rank = tokens.rank;
  VelocityInputs& inputs = part.inputs;
  inputs = JoinedInputs(videos, *joined_texts_[static_cast<size_t>(rank)]);
  inputs.x = On(rank, inputs.x);
  inputs.time = {On(rank, inputs.time.embedded), On(rank, inputs.time.rows)};
  inputs.time_of = videos.size() == 1 ? share->time_of : On(rank, tokens.Own(inputs.time_of));
  inputs.rope = share->rope;
  inputs.ranks = tokens;
  const RowRange& range = part.ranges.front();
  const bool has_last = range.first + range.count == videos.front().attempt->point().rows();
  if (!has_last) inputs.perturbed.clear();
  return part;
}

void GroupVelocity::Compute(const Ops& ops, std::vector<Part>& parts) {
  RunOnRanks(crew_, ops, [&](int rank, const Ops& by) {
    Part& part = parts[static_cast<size_t>(rank)];
    if (!part.videos.empty()) part.made = velocity(rank)(by, part.inputs);
  });
}

std::vector<at::Tensor> GroupVelocity::operator()(const Ops& ops, const Attempts& attempts) {
  const bool in_halves = InHalves(attempts);
  std::vector<RankTokens> tokens = RankTokens::OfCrew(crew_, in_halves, attempts.front()->x.size(1),
                                                      MostRanks(attempts, in_halves));
  if (tokens[0].is_divided()) {
    RankLink* const link = LinkOf(ops, attempts, in_halves);
    for (RankTokens& part : tokens) part.link = link;
  }
  // The first rank comes last: its device sends the others their inputs before it computes.
  std::vector<Part> parts(tokens.size());
  for (size_t rank = parts.size(); rank-- > 0;) {
    parts[rank] = PartOf(tokens[rank], in_halves, attempts);
  }
  Compute(ops, parts);
  return Together(parts, attempts.size());
}

at::Tensor GroupVelocity::MadeBy(const std::vector<Part>& parts, const RankTokens& tokens) const {
  std::vector<at::Tensor> made;
  for (int rank = tokens.first_rank; rank < tokens.first_rank + tokens.ranks; ++rank) {
    made.push_back(On(0, parts[static_cast<size_t>(rank)].made));
  }
  return made.size() == 1 ? made[0] : at::cat(made, 1);
}

std::vector<at::Tensor> GroupVelocity::Together(const std::vector<Part>& parts,
                                                size_t videos) const {
  std::vector<std::map<int64_t, at::Tensor>> rows(videos);  // by their first row in the step
  for (const Part& part : parts) {
    if (part.tokens.rank != part.tokens.first_rank || part.videos.empty()) continue;
    const at::Tensor made = MadeBy(parts, part.tokens);
    int64_t row = 0;
    for (size_t i = 0; i < part.videos.size(); ++i) {
      const RowRange& range = part.ranges[i];
      rows[part.videos[i]].emplace(range.first, made.slice(0, row, row + range.count));
      row += range.count;
    }
  }
  std::vector<at::Tensor> velocities;
  for (const std::map<int64_t, at::Tensor>& of_video : rows) {
    std::vector<at::Tensor> own;
    for (const auto& [first, made] : of_video) own.push_back(made);
    velocities.push_back(own.size() == 1 ? own[0] : at::cat(own));
  }
  return velocities;
}

}  // namespace reel::model::ltx
