// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "server/front/scheduling/place_choice.h"
#include "server/front/scheduling/preemption.h"
#include "server/front/scheduling/run_order.h"
#include "server/front/scheduling/worker_table.h"

namespace reel::front {

std::optional<std::vector<std::string>> WhoMakesWay(const PlannedWorker& worker, const Need& need,
                                                    const std::set<std::string>& wanted,
                                                    const Cards& cards) {
  const MemoryAccount account = AccountOf(worker, cards);
  if (account.usable <= 0) return std::vector<std::string>();
  const int64_t needed = need.memory_bytes + WeightsOf(need.model, cards);
  std::vector<std::pair<int64_t, std::string>> idle;
  for (const std::string& model : worker.loaded) {
    const bool stays = model == need.model || !worker.known.contains(model) ||
                       wanted.contains(model) || worker.HoldsJobOf(model);
    const auto used = worker.used.find(model);
    if (!stays) idle.emplace_back(used == worker.used.end() ? 0 : used->second, model);
  }
  std::sort(idle.begin(), idle.end());
  int64_t left = account.left();
  std::vector<std::string> leave;
  for (const auto& [used, model] : idle) {
    if (left >= needed) break;
    left += WeightsOf(model, cards);
    leave.push_back(model);
  }
  if (left < needed) return std::nullopt;
  return leave;
}

ModelWish WishFor(const WorkerTable& table, const Need& need, const std::set<std::string>& wanted,
                  absl::Duration now) {
  const PlannedWorker* worker = Offering(table, need);
  if (worker == nullptr) return {};
  const auto before = worker->loading_since.find(need.model);
  const bool failed = worker->failed.contains(need.model);
  if (failed && before != worker->loading_since.end() && now - before->second < kLoadAgain) {
    return {};
  }
  auto leave = WhoMakesWay(*worker, need, wanted, table.cards());
  const bool must_rest = !leave.has_value();
  return {worker->info.name, std::move(leave).value_or(std::vector<std::string>()), must_rest};
}

namespace {

// So many of those that find no room may have others parked for them; whoever has little time left
// is among the first of its tenant.
constexpr int kMostAsked = 16;

Newcomer NewcomerOf(const PlannedJob& job) {
  return {WaitingOf(job), job.need, job.charged, /*admitted=*/true};
}

// As they go there: each is put behind those that are parked before it.
std::vector<std::string> InOrderAt(const PlannedWorker& worker, std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
    return worker.held.at(a).order_key < worker.held.at(b).order_key;
  });
  return ids;
}

class Planner {
 public:
  Planner(const State& state, absl::Duration now)
      : state_(state),
        now_(now),
        queue_(state, now),
        preemption_(state, now),
        costs_(state.workers, state.costs),
        choice_(state, costs_, queue_, now) {
    for (const PlannedJob* job : queue_.jobs()) {
      if (job->at_worker()) passed_.insert(job->id);
    }
  }

  // False: nothing of that kind is to be done.
  bool PlaceNext();
  void Arrange();
  void ParkAll();

  std::vector<Action> Take() { return std::move(list_); }

 private:
  enum class Step { kNext, kDone, kStop };

  Step Place(size_t index);
  bool LoadsFor(const PlannedJob& job);
  PlaceChoice::Place PlaceOf(size_t index, bool room);
  const PlannedWorker* MakeRoom(const PlannedJob& job, bool soon);
  void Park(const PlannedWorker& worker, const std::vector<std::string>& ids,
            const PlannedJob& before, bool to_host);
  void ParkCompany(const PlannedWorker& worker);

  const State& state_;
  const absl::Duration now_;
  RunQueue queue_;
  Preemption preemption_;
  LookCosts costs_;
  PlaceChoice choice_;
  std::vector<Action> list_;

  // Of the look at those that wait, one after the other.
  WorkerTable::Passed passed_;
  WorkerTable::Names closed_;     // to those that come later: somebody waits for their memory
  std::set<std::string> wanted_;  // models of those that come before
  int asked_ = 0;
};

bool Planner::PlaceNext() {
  for (size_t i = 0;; ++i) {
    const Step step = Place(i);
    if (step != Step::kNext) return step == Step::kDone;
  }
}

// True: the models of the worker change first.
bool Planner::LoadsFor(const PlannedJob& job) {
  if (HasModel(state_.workers, job.need)) return false;
  const ModelWish wish = WishFor(state_.workers, job.need, wanted_, now_);
  if (wish.worker.empty()) return false;
  if (wish.must_rest) {
    closed_.insert(wish.worker);
    return false;
  }
  for (const std::string& model : wish.leave) list_.push_back(action::Unload{wish.worker, model});
  list_.push_back(action::Load{wish.worker, job.need.model});
  return true;
}

Planner::Step Planner::Place(size_t index) {
  const WorkerTable& workers = state_.workers;
  const PlannedJob* const job = queue_.At(index);
  if (job == nullptr) return Step::kStop;
  if (job->at_worker()) {
    passed_.erase(job->id);
    return Step::kNext;
  }
  if (LoadsFor(*job)) return Step::kDone;
  wanted_.insert(job->need.model);
  const bool room = workers.AnyRoom(passed_);
  const PlaceChoice::Place place = PlaceOf(index, room);
  if (place.must_wait) {
    if (job->held_back > now_) list_.push_back(action::HoldBack{job->id});
    closed_.insert(place.worker->info.name);
  } else if (place.worker != nullptr) {
    list_.push_back(action::Assign{job->id, place.worker->info.name});
    return Step::kDone;
  } else if (!room && asked_ > kMostAsked) {
    return Step::kStop;
  } else if (job->need.alone && room) {
    // Its worker must run empty, which it never would if others went on filling it.
    const auto& all = workers.workers();
    const bool comes = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
      return workers.Suits(entry.second, job->need);
    });
    if (comes) return Step::kStop;
  } else if (room) {
    closed_.merge(workers.ShortOfMemory(job->need, passed_));
  }
  return Step::kNext;
}

PlaceChoice::Place Planner::PlaceOf(size_t index, bool room) {
  const PlannedJob& job = *queue_.At(index);
  WorkerTable::Names not_there = preemption_.ClosedTo(job);
  not_there.insert(closed_.begin(), closed_.end());
  PlaceChoice::Place place;
  if (room) place = choice_.For(index, passed_, not_there);
  const bool asks = place.worker == nullptr || place.is_late;
  if (!asks || ++asked_ > kMostAsked) return place;
  // With others parked for it. It may as well wait there until they may be parked: anywhere else
  // it is late in any case.
  const bool soon = place.worker != nullptr;
  const PlannedWorker* const made = MakeRoom(job, soon);
  if (made != nullptr && !not_there.contains(made->info.name)) place = {made};
  return place;
}

// The worker that would have room for the job if it parked others for it; null: none. `soon`:
// others too that have not run their least yet.
const PlannedWorker* Planner::MakeRoom(const PlannedJob& job, bool soon) {
  for (const auto& [name, worker] : state_.workers.workers()) {
    if (!preemption_.HasVictims(worker)) continue;
    Newcomer newcomer = NewcomerOf(job);
    newcomer.waiting.devices = worker.num_devices();
    if (costs_.has_several_kinds()) {
      const Cost& there = costs_.Of(job, worker);
      if (there.observed) newcomer.waiting.predicted = there.p90();
    }
    const auto victims = preemption_.Victims(newcomer, worker, absl::ZeroDuration(), soon);
    if (victims.empty()) continue;
    WorkerTable::Passed with = passed_;
    with.insert(victims.begin(), victims.end());
    const WorkerTable::Passed leave(victims.begin(), victims.end());
    if (state_.workers.CanTake(worker, job.need, with, leave)) return &worker;
  }
  return nullptr;
}

// What workers have not begun goes in this order, behind what they have begun.
void Planner::Arrange() {
  std::map<const PlannedWorker*, double> last;  // key, of each
  for (const PlannedJob* job : queue_.AtWorkers()) {
    const PlannedWorker* worker = state_.workers.Find(job->worker);
    if (worker == nullptr) continue;
    const auto held = worker->held.find(job->id);
    if (held == worker->held.end()) continue;
    const auto [behind, first] = last.try_emplace(worker, 0);
    for (const auto& [id, other] : worker->held) {
      if (first && other.started && !other.parked()) {
        behind->second = std::max(behind->second, other.order_key);
      }
    }
    if (held->second.order_key <= behind->second) {
      list_.push_back(action::PutLast{job->id});
      behind->second = std::numeric_limits<double>::infinity();
    } else {
      behind->second = held->second.order_key;
    }
  }
}

// What must not go before those that a worker holds, nor beside what runs.
void Planner::ParkAll() {
  std::map<std::string_view, absl::Duration> ahead;  // what waits at each worker, so far
  for (const PlannedJob* job : queue_.AtWorkers()) {
    const PlannedWorker* worker = state_.workers.Find(job->worker);
    if (worker == nullptr || !preemption_.HasVictims(*worker)) continue;
    absl::Duration& before = ahead[worker->info.name];
    const auto victims = preemption_.Victims(NewcomerOf(*job), *worker, before);
    before += job->cost.p90();
    // With all that it holds: it got its newcomers on the understanding that others leave.
    if (!victims.empty()) {
      Park(*worker, victims, *job, state_.workers.AccountOf(*worker).left() < 0);
    }
  }
  for (const auto& [name, worker] : state_.workers.workers()) ParkCompany(worker);
}

// Those that must not share the steps of another one there.
void Planner::ParkCompany(const PlannedWorker& worker) {
  std::set<std::string_view> tenants;
  for (const auto& [id, held] : worker.held) {
    const PlannedJob* job = state_.AtWorker(id, held.attempt);
    if (job != nullptr) tenants.insert(job->tenant);
  }
  if (tenants.size() < 2) return;
  for (const auto& [id, held] : worker.held) {
    const PlannedJob* job = state_.AtWorker(id, held.attempt);
    const bool steps = held.started && job != nullptr && job->stage < model::Stage::kEncode;
    if (!steps || preemption_.IsParked(id, held)) continue;
    const auto company = preemption_.Company(*job, worker);
    if (!company.empty()) Park(worker, company, *job, /*to_host=*/false);
  }
}

void Planner::Park(const PlannedWorker& worker, const std::vector<std::string>& ids,
                   const PlannedJob& before, bool to_host) {
  for (const std::string& id : InOrderAt(worker, ids)) {
    list_.push_back(action::Park{id, before.id, to_host});
  }
  preemption_.Park(worker, ids);
}

// Whether the other one is decoded or gone.
bool IsOver(const State& state, const PlannedWorker& worker, const std::string& id) {
  const auto held = worker.held.find(id);
  if (held == worker.held.end()) return true;
  const PlannedJob* job = state.AtWorker(id, held->second.attempt);
  return job == nullptr || job->stage >= model::Stage::kEncode;
}

void Resume(const State& state, std::vector<Action>& list) {
  for (const auto& [name, worker] : state.workers.workers()) {
    for (const auto& [id, held] : worker.held) {
      if (!held.parked() || !IsOver(state, worker, held.parked_for)) continue;
      if (state.AtWorker(id, held.attempt) != nullptr) list.push_back(action::Resume{id});
    }
  }
}

// Jobs that no worker will ever run end, instead of waiting for their deadlines.
void RefuseHopeless(const State& state, std::vector<Action>& list) {
  const auto& all = state.workers.workers();
  const bool any_out = std::any_of(all.begin(), all.end(), [](const auto& entry) {
    return entry.second.info.state == WorkerState::kOut;
  });
  if (!any_out) return;
  for (const PlannedJob* job : state.jobs) {
    if (job->runnable() && state.workers.Hopeless(job->need)) {
      list.push_back(action::Refuse{job->id});
    }
  }
}

}  // namespace

Actions Plan(const State& state, absl::Duration now) {
  Actions actions;
  if (!state.drains) RefuseHopeless(state, actions.list);
  Resume(state, actions.list);
  actions.more = !actions.list.empty() && !state.drains;
  if (actions.more || state.drains) return actions;
  Planner planner(state, now);
  actions.more = planner.PlaceNext();
  if (!actions.more) {
    planner.Arrange();
    planner.ParkAll();
  }
  actions.list = planner.Take();
  return actions;
}

}  // namespace reel::front
