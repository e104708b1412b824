// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/forecast.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "server/front/scheduling/run_order.h"

namespace reel::front {
namespace {

// What a worker will have done, and when.
struct Lane {
  const PlannedWorker* worker = nullptr;  // null: no worker is there yet
  absl::Duration free;                    // from now on
  absl::Duration ahead;                   // of that, jobs that wait

  void Add(absl::Duration run) {
    free += run;
    ahead += run;
  }
};

class Lanes {
 public:
  explicit Lanes(const State& state) {
    for (const auto& [name, worker] : state.workers.workers()) {
      if (worker.info.state != WorkerState::kReady || worker.is_dying) continue;
      Lane& lane = lanes_.emplace_back();
      lane.worker = &worker;
      for (const auto& [id, held] : worker.held) {
        const PlannedJob* job = state.AtWorker(id, held.attempt);
        if (job != nullptr && !job->held_unbegun()) lane.free += job->Left();
      }
    }
    if (lanes_.empty()) lanes_.emplace_back();
  }

  std::vector<Lane>& all() { return lanes_; }
  // Returns when it begins.
  absl::Duration Add(const PlannedJob& job) {
    Lane& lane = LaneOf(job);
    const absl::Duration begin = lane.free;
    lane.Add(job.WorkerTime());
    return begin;
  }

 private:
  Lane& LaneOf(const PlannedJob& job) {
    const std::string& named = job.at_worker() ? job.worker : job.need.worker;
    if (!named.empty()) {
      for (Lane& lane : lanes_) {
        if (lane.worker != nullptr && lane.worker->info.name == named) return lane;
      }
    }
    return *std::min_element(lanes_.begin(), lanes_.end(),
                             [](const Lane& a, const Lane& b) { return a.free < b.free; });
  }

  std::vector<Lane> lanes_;
};

// Where the video that is asked about would go.
struct Place {
  size_t lane = 0;
  absl::Duration begin, end;
  absl::Duration saved;  // by parking others there
};

class QuestionLook {
 public:
  QuestionLook(const State& state, const Question& question, absl::Duration now)
      : state_(state),
        question_(question),
        now_(now),
        look_(state, now),
        lanes_(state),
        order_(RunOrderWith(question.newcomer.waiting, state, now)) {}

  Answered Answer() {
    Answered answer;
    Lanes lanes = lanes_;
    size_t index = 0;
    for (; order_[index] != nullptr; ++index) {
      lanes.Add(*order_[index]);
      answer.position += order_[index]->at_worker() ? 0 : 1;
    }
    const Place place = Choose(lanes, index);
    answer.wait = place.begin;
    answer.delay = place.end - question_.newcomer.waiting.predicted;
    answer.makes_late = MakesLate(place, answer.delay);
    if (answer.position == 0) {
      const auto beside = look_.WaitBeside(question_.newcomer, question_.kinds);
      if (beside) answer.makes_late = false;  // that has asked all who are there
      if (beside) answer.delay = std::min(answer.delay, *beside);
    }
    return answer;
  }

 private:
  // As the plan does it: where there is room for it now, those behind it aside, it goes to the
  // worker that is free first. Else to where it ends first, with others parked or not.
  Place Choose(Lanes& lanes, size_t index) {
    WorkerTable::Passed passed;
    for (size_t i = index + 1; i < order_.size(); ++i) {
      if (order_[i]->at_worker()) passed.insert(order_[i]->id);
    }
    std::optional<Place> roomy, suitable, any;
    for (size_t i = 0; i < lanes.all().size(); ++i) {
      const Lane& lane = lanes.all()[i];
      const Need& need = question_.newcomer.need;
      const Place alone = PlaceAt(i, lane, /*parks=*/false);
      const auto keep = [](std::optional<Place>& best, const Place& place) {
        if (!best || place.end < best->end) best = place;
      };
      keep(any, alone);
      if (lane.worker == nullptr || !state_.workers.Suits(*lane.worker, need)) continue;
      keep(suitable, PlaceAt(i, lane, /*parks=*/true));
      if (state_.workers.CanTake(*lane.worker, need, passed)) keep(roomy, alone);
    }
    if (roomy) return PlaceAt(roomy->lane, lanes.all()[roomy->lane], /*parks=*/true);
    return suitable ? *suitable : *any;
  }

  Place PlaceAt(size_t index, const Lane& lane, bool parks) {
    Newcomer there = question_.newcomer;
    const KindCost* const own =
        lane.worker == nullptr ? nullptr : ObservedAt(question_.kinds, *lane.worker);
    if (own != nullptr) there.waiting.predicted = own->cost.p90();
    absl::Duration begin = lane.free, step;
    if (!parks) return {index, begin, begin + there.waiting.predicted, absl::ZeroDuration()};
    for (const std::string& id : look_.Victims(there, *lane.worker, lane.ahead, /*soon=*/true)) {
      const HeldJob& held = lane.worker->held.at(id);
      const PlannedJob* job = state_.AtWorker(id, held.attempt);
      if (job == nullptr) continue;
      begin -= job->Left();
      // They stop between two steps, and not before they have run their least.
      const absl::Duration least = held.ran_enough ? absl::ZeroDuration() : kLeastTimeRun;
      step = std::max(step, job->cost.longest_step_p90() + least);
    }
    begin = std::max(begin, absl::ZeroDuration()) + step;
    return {index, begin, begin + there.waiting.predicted, lane.free - begin};
  }

  using Begins = std::vector<std::pair<const PlannedJob*, absl::Duration>>;

  // `delay` grows where it waits for longer then.
  bool MakesLate(const Place& place, absl::Duration& delay) {
    const bool is_late_itself = now_ + place.end > question_.newcomer.waiting.deadline;
    if (state_.options.fifo || is_late_itself) return false;
    const auto is_late = [&](const auto& entry) {
      return now_ + entry.second + entry.first->cost.p90() > entry.first->deadline;
    };
    Begins with = BeginsOf(order_, place);
    if (std::none_of(with.begin(), with.end(), is_late)) return false;
    PlannedJobs others = order_;
    std::erase(others, nullptr);
    with = BeginsOf(ByLatestStart(order_), place, &delay);
    const Begins alone = BeginsOf(ByLatestStart(others), place);
    const std::unordered_map<const PlannedJob*, absl::Duration> without(alone.begin(), alone.end());
    // In doubt it would have been in time.
    return std::any_of(with.begin(), with.end(), [&](const auto& entry) {
      const auto& [job, begin] = entry;
      const absl::Duration before = without.at(job);
      return is_late(entry) && before < begin && now_ + before + job->cost.p50() <= job->deadline;
    });
  }

  // Who runs out of time goes first: the jobs of each tenant take its turns by that.
  PlannedJobs ByLatestStart(const PlannedJobs& order) const {
    struct Turn {
      std::string_view tenant;
      int priority;
      absl::Duration latest;
      const PlannedJob* job;
    };
    std::unordered_map<std::string_view, std::vector<Turn>> turns;
    for (const PlannedJob* job : order) {
      const Waiting& waiting = job == nullptr ? question_.newcomer.waiting : InOrder(*job);
      turns[waiting.tenant].push_back({waiting.tenant, KeyOf(waiting, now_).priority,
                                       waiting.deadline - waiting.predicted, job});
    }
    for (auto& [tenant, jobs] : turns) {
      // The last one first, to be taken from the end.
      std::stable_sort(jobs.begin(), jobs.end(), [](const Turn& a, const Turn& b) {
        return std::tie(a.priority, a.latest) > std::tie(b.priority, b.latest);
      });
    }
    PlannedJobs by_start;
    for (const PlannedJob* job : order) {
      auto& jobs =
          turns[job == nullptr ? question_.newcomer.waiting.tenant : std::string_view(job->tenant)];
      by_start.push_back(jobs.back().job);
      jobs.pop_back();
    }
    return by_start;
  }

  // Of those that it must not make late. It goes to that place.
  Begins BeginsOf(const PlannedJobs& order, const Place& place, absl::Duration* delay = nullptr) {
    Begins begins;
    Lanes lanes = lanes_;
    for (const PlannedJob* job : order) {
      if (job == nullptr) {
        Lane& lane = lanes.all()[place.lane];
        if (delay != nullptr) *delay = std::max(*delay, lane.free - place.saved);
        lane.Add(question_.worker_time);
        continue;
      }
      const absl::Duration begin = lanes.Add(*job);
      if (job->cost.observed && MustKeep(*job)) begins.emplace_back(job, begin);
    }
    return begins;
  }

  bool MustKeep(const PlannedJob& job) {
    const Waiting& waiting = question_.newcomer.waiting;
    if (job.tenant != waiting.tenant) return !look_.HadMore(question_.newcomer, job.tenant);
    return KeyOf(WaitingOf(job), now_).priority <= KeyOf(waiting, now_).priority;
  }

  const State& state_;
  const Question& question_;
  const absl::Duration now_;
  Preemption look_;
  const Lanes lanes_;        // before anything that waits
  const PlannedJobs order_;  // null: the video that is asked about
};

}  // namespace

std::vector<Outlook> Foresee(const State& state, absl::Duration now) {
  std::vector<Outlook> all;
  Lanes lanes(state);
  int position = 0;
  for (const PlannedJob* job : RunOrder(state, now)) {
    all.push_back({job, lanes.Add(*job), position});
    position += job->at_worker() ? 0 : 1;
  }
  return all;
}

Answered Foresee(const State& state, const Question& question, absl::Duration now) {
  return QuestionLook(state, question, now).Answer();
}

}  // namespace reel::front
