// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/place_choice.h"

#include <algorithm>
#include <tuple>

#include "server/front/scheduling/queue_order.h"
#include "server/front/scheduling/run_order.h"
#include "server/front/scheduling/worker_costs.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

LookCosts::LookCosts(const WorkerTable& table, const CostModel& costs)
    : table_(table), costs_(costs), has_several_kinds_(HasSeveralKinds(table)) {}

const Cost& LookCosts::Of(const PlannedJob& job, const PlannedWorker& worker) {
  const auto [known, is_new] = known_.try_emplace({&job, worker.kind()});
  if (is_new) known->second = CostAt(table_, costs_, worker, job.need);
  return known->second;
}

std::optional<size_t> ChoosePlace(absl::Span<const PlaceOption> options, absl::Duration time_left,
                                  absl::Duration waited) {
  const auto is_late = [&](size_t i) { return options[i].ahead + options[i].run_p90 > time_left; };
  const auto sooner = [&](size_t a, size_t b) {
    return std::tuple(is_late(a), options[a].end()) < std::tuple(is_late(b), options[b].end());
  };
  std::optional<size_t> free;
  for (size_t i = 0; i < options.size(); ++i) {
    if (!options[i].has_room) continue;
    const bool is_better =
        !free ||
        (options[i].is_idle != options[*free].is_idle ? options[i].is_idle : sooner(i, *free));
    if (is_better) free = i;
  }
  if (!free) return std::nullopt;
  const absl::Duration run = options[*free].run;
  size_t best = *free;
  for (size_t i = 0; i < options.size(); ++i) {
    const PlaceOption& other = options[i];
    // Of equals whoever has room takes it.
    if (other.is_idle || other.run >= run || (!other.has_room && waited >= run)) continue;
    const bool clearly = other.end() + kClearlySooner * run <= options[*free].end();
    const bool in_time = is_late(*free) && !is_late(i);
    const bool too_late = is_late(i) && !is_late(*free);
    if ((clearly || in_time) && !too_late && sooner(i, best)) best = i;
  }
  return best;
}

// With `fifo` costs decide nothing.
PlaceChoice::PlaceChoice(const State& state, LookCosts& costs, RunQueue& queue, absl::Duration now)
    : table_(state.workers),
      costs_(costs),
      queue_(queue),
      now_(now),
      compares_(!state.options.fifo && costs.has_several_kinds()) {}

PlaceChoice::Place PlaceChoice::For(size_t index, const WorkerTable::Passed& passed,
                                    const WorkerTable::Names& closed) {
  const PlannedJob& job = *queue_.At(index);
  const bool compares = compares_ && job.need.worker.empty();
  auto options = compares ? OptionsOf(job, passed, closed) : std::nullopt;
  if (!options) return {table_.Place(job.need, passed, closed)};
  const absl::Duration time_left = job.deadline - now_;
  const absl::Duration waited = std::max(now_ - job.held_back, absl::ZeroDuration());
  Place place;
  while (const auto chosen = ChoosePlace(*options, time_left, waited)) {
    const PlaceOption best = (*options)[*chosen];
    place = {best.worker, !best.has_room, best.ahead + best.run_p90 > time_left};
    if (!best.is_idle || !Leaves(index, *options, best, passed)) return place;
    std::erase_if(*options, [&](const auto& other) { return other.run <= best.run; });
  }
  return place;
}

std::optional<PlaceChoice::Options> PlaceChoice::OptionsOf(const PlannedJob& job,
                                                           const WorkerTable::Passed& passed,
                                                           const WorkerTable::Names& closed) {
  Options options;
  for (const auto& [name, worker] : table_.workers()) {
    if (closed.contains(name)) continue;
    PlaceOption option;
    option.has_room = table_.CanTake(worker, job.need, passed);
    // One that must run alone has its worker emptied for it.
    if (!option.has_room &&
        (job.need.alone || worker.is_dying || !table_.Suits(worker, job.need))) {
      continue;
    }
    const auto memory = NeedAlone(worker, job.need, table_.cards());
    if (!option.has_room && memory && memory->needed > memory->there) continue;
    const Cost& cost = costs_.Of(job, worker);
    if (!cost.observed && option.has_room) return std::nullopt;
    if (!cost.observed) continue;
    option.worker = &worker;
    option.ahead = worker.Backlog(passed);
    option.run = cost.p50();
    option.run_p90 = std::max(cost.p90(), option.run);
    option.is_idle = option.has_room && worker.held.empty();
    options.push_back(option);
  }
  // One that renders for a comparison gives that up for a job: of equals the other one.
  std::stable_partition(options.begin(), options.end(),
                        [](const auto& option) { return !option.worker->shadow; });
  return options;
}

bool PlaceChoice::Leaves(size_t index, const Options& options, const PlaceOption& best,
                         const WorkerTable::Passed& passed) {
  const PlannedJob& job = *queue_.At(index);
  const PlaceOption* slow = nullptr;
  int free = 0, fast = 0;  // workers
  for (const PlaceOption& option : options) {
    if (!option.is_idle) continue;
    ++free;
    fast += option.run <= best.run ? 1 : 0;
    const bool is_slow = option.run > best.run && now_ + option.run_p90 <= job.deadline;
    if (is_slow && (slow == nullptr || option.run < slow->run)) slow = &option;
  }
  if (slow == nullptr) return false;
  const absl::Duration gain = slow->run - best.run;
  const Waiting mine = WaitingOf(job);
  int more = 0;  // jobs that gain more
  // With this one they are as many as the workers that are free.
  for (size_t i = index + 1; free > 1 && more < fast; ++i) {
    const PlannedJob* const next = queue_.At(i);
    if (next == nullptr) break;
    const PlannedJob& other = *next;
    if (other.at_worker()) continue;
    --free;
    const bool takes_it = table_.CanTake(*best.worker, other.need, passed) &&
                          AreOfOneRank(mine, WaitingOf(other), now_);
    if (!takes_it) continue;
    const bool has_no_other = !table_.CanTake(*slow->worker, other.need, passed);
    more += has_no_other || GainsMore(other, gain, best, *slow) ? 1 : 0;
  }
  return more >= fast;
}

bool PlaceChoice::GainsMore(const PlannedJob& other, absl::Duration gain, const PlaceOption& fast,
                            const PlaceOption& slow) {
  const Cost& there = costs_.Of(other, *fast.worker);
  const Cost& here = costs_.Of(other, *slow.worker);
  return there.observed && here.observed && here.p50() - there.p50() > gain;
}

}  // namespace reel::front
