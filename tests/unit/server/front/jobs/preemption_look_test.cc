// SPDX-License-Identifier: Apache-2.0
// Tests that what one look remembers changes no decision. The jobs that workers would park, asked
// in any order, are held against a plain reading of the rules, over random pools, videos and
// shares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/scheduling/preemption.h"
#include "server/front/scheduling/run_order.h"
#include "tests/fakes/manual_clock.h"
#include "tests/unit/server/front/jobs/harness.h"

namespace reel::front {
namespace {

using Ids = std::vector<std::string>;

constexpr int kPools = 150, kLooks = 5, kQuestions = 8;
constexpr int kTenants = 4;

class PreemptionLookTest : public ::testing::Test {
 protected:
  int Draw(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  void MakePool(int seed) {
    random_.seed(static_cast<unsigned>(seed));
    options_.fill_rows = Draw(2) == 0 ? 0 : 8192;
    for (int i = 0; i < kTenants; ++i) {
      share_.SetWeight(absl::StrCat("t", i), 1 + Draw(3));
      share_.Charge(absl::StrCat("t", i), absl::Seconds(Draw(60)));
    }
    const int workers = 1 + Draw(5);
    for (int i = 0; i < workers; ++i) {
      WorkerInfo info;
      info.name = absl::StrCat("w", i);
      info.state = WorkerState::kReady;
      roster_.Update(info);
      const int held = Draw(7);
      for (int j = 0; j < held; ++j) AddHeld(info.name);
    }
  }
  ActiveJob& AddJob(Phase phase) {
    ActiveJob job(phase);
    job.id = absl::StrCat("v", Draw(1000), "-", jobs_.size());
    job.tenant = absl::StrCat("t", Draw(kTenants));
    job.priority = static_cast<Priority>(Draw(3));
    job.accepted = clock_.Monotonic() - absl::Milliseconds(Draw(100000));
    job.deadline = clock_.Monotonic() + absl::Milliseconds(Draw(200000));
    job.need.shape.model = job.need.model = Draw(5) == 0 ? "n" : "m";
    job.need.shape.plan = "auto";
    const int rows = 256 << Draw(4);
    job.need.shape.passes = {{.tokens = rows, .rows = rows, .steps = 10}};
    job.need.alone = Draw(20) == 0;
    job.need.profile = Draw(8) == 0 ? "batch_invariant" : "auto";
    CostModel costs;
    costs.LearnStep(StepOf(job.need.shape, job.need.shape.passes[0]),
                    absl::Milliseconds(10 + Draw(3000)));
    job.cost = costs.Predict(job.need.shape);
    return jobs_.Add(std::move(job));
  }
  void AddHeld(const std::string& worker) {
    ActiveJob& job = AddJob(Draw(6) == 0 ? Phase::kFetching : Phase::kAssigned);
    job.worker = worker;
    job.charged = job.cost.p50();
    share_.Charge(job.tenant, job.charged);
    HeldJob held;
    held.shape = job.need.shape;
    held.order_key = Draw(1000000);
    held.alone = job.need.alone;
    held.started = job.phase() == Phase::kAssigned && Draw(4) != 0;
    if (held.started) {
      job.started = clock_.Monotonic() - absl::Seconds(Draw(10));
      constexpr model::Stage kStages[] = {model::Stage::kTextEncode, model::Stage::kDenoise,
                                          model::Stage::kDenoise, model::Stage::kDenoise,
                                          model::Stage::kDecode};
      job.stage = kStages[Draw(5)];
      job.step = job.stage < model::Stage::kDenoise ? 0 : Draw(10);
    }
    job.preemptions = Draw(kMostPreemptions + 1);
    held.ran_enough = Draw(3) != 0;
    if (held.started && Draw(5) == 0) held.parked_for = "x";
    held.parked_bytes = held.parked() ? int64_t{Draw(5)} << 30 : 0;
    if (Draw(20) == 0) held.attempt = 7;  // of an attempt that nobody knows
    roster_.Hold(worker, job.id, std::move(held));
  }

  // The rules, read anew for each question.
  double PlainUsed(std::string_view tenant) {
    absl::Duration unused;
    for (const auto& [name, worker] : roster_.workers()) {
      for (const auto& [id, held] : worker.held) {
        const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
        if (job != nullptr && job->tenant == tenant) unused += job->Unused();
      }
    }
    return share_.virtual_time(tenant) - absl::ToDoubleSeconds(unused) / share_.weight(tenant);
  }
  bool PlainGoesBefore(const Newcomer& newcomer, const ActiveJob& other) {
    const Waiting& mine = newcomer.waiting;
    if (mine.tenant == other.tenant) {
      Waiting rest = WaitingOf(other);
      rest.predicted = other.LeftP90();
      return RunsBefore(mine, rest, clock_.Monotonic());
    }
    const double advance = absl::ToDoubleSeconds(newcomer.advance) / share_.weight(mine.tenant);
    return share_.virtual_time(mine.tenant) - advance <= share_.virtual_time(other.tenant);
  }
  bool PlainHadMore(const Newcomer& newcomer, const ActiveJob& other) {
    const Waiting& mine = newcomer.waiting;
    if (mine.tenant == other.tenant) return false;
    const absl::Duration ahead = std::min(mine.device_time(), kHadMore);
    return PlainUsed(mine.tenant) + absl::ToDoubleSeconds(ahead) / share_.weight(mine.tenant) <=
           PlainUsed(other.tenant);
  }
  bool PlainKeepsPromise(const Newcomer& newcomer, const ActiveJob& other) {
    return newcomer.admitted && newcomer.waiting.tenant != other.tenant && other.preemptions == 0 &&
           other.LeftP90() >= kWorthParking * newcomer.waiting.predicted;
  }
  bool PlainShares(const Need& need, int64_t rows, const PlannedWorker& worker) {
    if (need.profile == "batch_invariant") return false;
    size_t jobs = rows > 0 ? 1 : 0;
    for (const auto& [id, held] : worker.held) {
      if (!held.started || held.parked()) continue;
      if (held.shape.model != need.shape.model || held.shape.plan != need.shape.plan) return false;
      rows += roster_.RowsTaken(held.shape);
      ++jobs;
    }
    return worker.Packs(need.shape, jobs, rows, options_.fill_rows);
  }
  // The one that is stepped there, where steps are not shared, has run its least.
  bool PlainFirstRanEnough(const PlannedWorker& worker) {
    const HeldJob* first = nullptr;
    for (const auto& [id, held] : worker.held) {
      const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
      if (!held.started || held.parked() || job == nullptr || !job->at_worker()) continue;
      if (job->stage > model::Stage::kDenoise) continue;
      if (first == nullptr || held.order_key < first->order_key) first = &held;
    }
    return first != nullptr && first->ran_enough && !PlainShareAll(worker);
  }
  // Those that have begun, whatever became of their jobs here.
  bool PlainShareAll(const PlannedWorker& worker) {
    const WorkShape* like = nullptr;
    int64_t rows = 0;
    size_t jobs = 0;
    for (const auto& [id, held] : worker.held) {
      if (!held.started || held.parked()) continue;
      if (like == nullptr) like = &held.shape;
      if (held.shape.model != like->model || held.shape.plan != like->plan) return false;
      rows += roster_.RowsTaken(held.shape);
      ++jobs;
    }
    return like != nullptr && worker.Packs(*like, jobs, rows, options_.fill_rows);
  }
  Ids PlainVictims(const Newcomer& newcomer, const PlannedWorker& worker, const Urgent& urgent,
                   bool soon, bool runs_there) {
    if (newcomer.need.alone) return {};
    const bool shares =
        PlainShares(newcomer.need, runs_there ? 0 : roster_.RowsTaken(newcomer.need.shape), worker);
    if (runs_there && !shares) return {};
    bool closed = false;
    int64_t bytes = 0, rows = 0;
    size_t moving = 0;
    Ids ids;
    std::vector<BegunJob> begun;
    for (const auto& [id, held] : worker.held) {
      closed |= held.alone;
      if (held.parked()) bytes += held.parked_bytes;
      const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
      if (job == nullptr || !held.started || !job->at_worker()) continue;
      const bool can_park = job->stage <= model::Stage::kDenoise &&
                            (held.ran_enough || soon || shares || PlainFirstRanEnough(worker)) &&
                            job->preemptions < kMostPreemptions;
      const bool before = PlainGoesBefore(newcomer, *job);
      const bool only_late = can_park && !before && !shares && PlainKeepsPromise(newcomer, *job);
      ids.push_back(id);
      begun.push_back({job->LeftP90(), job->deadline, held.parked(),
                       (can_park && before) || only_late,
                       can_park && before && PlainHadMore(newcomer, *job), only_late});
      if (held.parked()) continue;
      rows += roster_.RowsTaken(held.shape);
      ++moving;
    }
    if (closed || bytes >= kMostParkedBytes) return {};
    const bool together = worker.Packs(newcomer.need.shape, moving, rows, options_.fill_rows);
    Ids chosen;
    for (const size_t i : shares ? WhomToLeave(begun, urgent, clock_.Monotonic())
                                 : WhomToPark(begun, together, urgent, clock_.Monotonic())) {
      chosen.push_back(ids[i]);
    }
    return chosen;
  }
  WorkerRoster::Names PlainClosed(const ActiveJob& job) {
    WorkerRoster::Names closed;
    for (const auto& [name, worker] : roster_.workers()) {
      for (const auto& [id, held] : worker.held) {
        const ActiveJob* parked = jobs_.FindAttempt(id, held.attempt);
        if (!held.parked() || parked == nullptr || parked->tenant != job.tenant) continue;
        Waiting rest = WaitingOf(*parked);
        rest.predicted = parked->LeftP90();
        if (!RunsBefore(WaitingOf(job), rest, clock_.Monotonic())) closed.insert(name);
      }
    }
    return closed;
  }
  PlannedWorker& AnyWorker() {
    return *roster_.Find(absl::StrCat("w", Draw(static_cast<int>(roster_.workers().size()))));
  }

  std::mt19937 random_;
  reel::testing::ManualClock clock_;
  JobOptions options_;
  JobTable jobs_{clock_};
  WorkerRoster roster_{(options_.models = {SourceOf("m"), SourceOf("n")}, options_)};
  FairShare share_;
  CostModel costs_;
  int parked_ = 0, company_ = 0, closed_ = 0;  // answers that are not empty

  // One that waits, or is held and has not begun, at any worker.
  void AskAboutANewcomer(Preemption& look) {
    const ActiveJob& job = AddJob(Phase::kQueued);
    const PlannedWorker& worker = AnyWorker();
    const Newcomer newcomer = {WaitingOf(job), job.need, absl::Seconds(Draw(2) * Draw(10)),
                               /*admitted=*/Draw(2) == 0};
    const absl::Duration ahead = absl::Milliseconds(Draw(3000));
    const bool soon = Draw(2) == 0;
    const Ids victims = look.Victims(newcomer, worker, ahead, soon);
    const Urgent urgent = {newcomer.waiting.predicted + ahead, newcomer.waiting.deadline};
    EXPECT_EQ(victims, PlainVictims(newcomer, worker, urgent, soon, false));
    parked_ += victims.empty() ? 0 : 1;
    const WorkerRoster::Names closed = look.ClosedTo(job);
    EXPECT_EQ(closed, PlainClosed(job));
    closed_ += closed.empty() ? 0 : 1;
  }
  void AskAboutCompany(Preemption& look) {
    const PlannedWorker& worker = AnyWorker();
    for (const auto& [id, held] : worker.held) {
      const ActiveJob* job = jobs_.FindAttempt(id, held.attempt);
      if (job == nullptr || !held.started || held.parked()) continue;
      const Ids company = look.Company(*job, worker);
      const Newcomer self = {WaitingOf(*job), job->need, job->Unused()};
      EXPECT_EQ(company, PlainVictims(self, worker, {job->LeftP90(), job->deadline}, true, true));
      company_ += company.empty() ? 0 : 1;
    }
  }
  // What happens in the course of a look: videos are parked.
  void Park(Preemption& look) {
    PlannedWorker& worker = AnyWorker();
    Ids ids;
    for (auto& [id, held] : worker.held) {
      if (!held.started || Draw(4) != 0) continue;
      ids.push_back(id);
      held.parked_for = "y";  // for the plain reading
    }
    look.Park(worker, ids);
  }
};

TEST_F(PreemptionLookTest, DecidesWhatAPlainReadingOfTheRulesDoes) {
  for (int seed = 0; seed < kPools && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    MakePool(seed);
    for (int looks = 0; looks < kLooks; ++looks) {
      const State state(jobs_.Planned(), roster_, costs_, share_, options_);
      Preemption look(state, clock_.Monotonic());
      for (int i = 0; i < kQuestions; ++i) {
        AskAboutANewcomer(look);
        AskAboutCompany(look);
        if (Draw(4) == 0) Park(look);
      }
      AddHeld(AnyWorker().info.name);
    }
    while (jobs_.size() > 0) jobs_.Remove(jobs_.begin()->first);
    for (const auto& [name, worker] : roster_.workers()) roster_.Lose(name);
  }
  EXPECT_GT(parked_, kPools / 2);
  EXPECT_GT(company_, kPools / 2);
  EXPECT_GT(closed_, kPools / 2);
}

}  // namespace
}  // namespace reel::front
