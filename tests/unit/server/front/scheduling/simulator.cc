// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/front/scheduling/simulator.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "server/front/scheduling/run_order.h"
#include "server/front/scheduling/worker_costs.h"
#include "tests/unit/server/front/scheduling/step_of.h"

namespace reel::front {
namespace {

constexpr char kModel[] = "m";
constexpr absl::Duration kText = absl::Milliseconds(50);  // what costs begin with
constexpr absl::Duration kTick = absl::Seconds(1);
constexpr double kRowsOfSecond = 1000;

}  // namespace

PlannedWorker& SimulatedWorkers::Add(const std::string& name, const std::string& device) {
  PlannedWorker& worker = workers_[name];
  worker.info.name = name;
  worker.info.device = device;
  worker.info.state = WorkerState::kReady;
  worker.loaded.insert(kModel);
  return worker;
}

void SimulatedWorkers::SetWeights(const std::string& model, int64_t bytes) {
  cards_[model].weight_bytes = bytes;
}

Simulator::Simulator(JobOptions options)
    : options_([&] {
        options.fill_rows = 0;
        return std::move(options);
      }()) {}

void Simulator::AddWorker(const std::string& name, const std::string& device, double speed) {
  workers_.Add(name, device);
  speeds_[name] = speed;
}

Need Simulator::NeedOf(const SimulatedVideo& video) const {
  Need need;
  need.model = need.shape.model = kModel;
  need.worker = video.worker;
  need.profile = need.shape.plan = "auto";
  const auto rows = static_cast<int64_t>(std::lround(kRowsOfSecond * video.step_seconds));
  need.shape.passes = {{.tokens = rows, .rows = rows, .steps = video.steps}};
  return need;
}

void Simulator::Learn(const SimulatedVideo& video) {
  for (const auto& [name, worker] : workers_.workers()) {
    WorkShape shape = NeedOf(video).shape;
    shape.where = workers_.WhereOf(worker, kModel);
    const auto took = absl::Seconds(video.step_seconds / SpeedOf(name));
    if (costs_.Predict(shape).longest_step_p90() == took) continue;
    for (int i = 0; i < 10; ++i) costs_.LearnStep(StepOf(shape, shape.passes.front()), took);
  }
}

State Simulator::Now() const {
  PlannedJobs jobs;
  for (const auto& [id, job] : jobs_) jobs.push_back(&job);
  return {std::move(jobs), workers_, costs_, share_, options_};
}

Answered Simulator::Ask(const SimulatedVideo& video, const PlannedJob& job,
                        const std::vector<KindCost>& kinds) const {
  const Waiting waiting = {video.tenant, video.priority, now_, job.deadline, job.cost.p90(), 0,
                           job.devices};
  return Foresee(Now(), {{waiting, job.need, {}}, kinds, job.WorkerTime()}, now_);
}

bool Simulator::Submit(const SimulatedVideo& video) {
  EndOverdue();
  Learn(video);
  PlannedJob job(Phase::kQueued);
  job.id = video.id;
  job.tenant = video.tenant;
  job.priority = video.priority;
  job.need = NeedOf(video);
  const std::vector<KindCost> kinds = CostsByKind(workers_, costs_, job.need);
  job.need.shape.where = kinds.front().where;
  job.cost = kinds.front().cost;
  job.devices = kinds.front().devices;
  job.pool = PoolCostOf(workers_, kinds);
  job.number = ++number_;
  job.accepted = now_;
  job.deadline = now_ + video.timeout;
  const Answered answer = Ask(video, job, kinds);
  SimulatedEnd& end = ends_[video.id];
  end.came = now_;
  end.quoted = answer.wait;
  end.makes_late = answer.makes_late;
  end.refused = answer.makes_late || answer.delay + job.cost.p90() > video.timeout;
  if (end.refused) return false;
  const PlannedJob& added = jobs_.emplace(video.id, std::move(job)).first->second;
  WakeTenant(added, Now().jobs, share_);
  Settle();
  return true;
}

absl::Duration Simulator::NextEvent() const {
  absl::Duration next = absl::Floor(now_, kTick) + kTick;
  for (const auto& [worker, piece] : pieces_) next = std::min(next, piece.ends);
  for (const auto& [id, job] : jobs_) next = std::min(next, job.deadline);
  return next;
}

void Simulator::RunUntil(absl::Duration time) {
  while (true) {
    const absl::Duration next = jobs_.empty() ? absl::InfiniteDuration() : NextEvent();
    if (next > time) break;
    now_ = std::max(now_, next);
    std::vector<std::string> done;
    for (const auto& [worker, piece] : pieces_) {
      if (piece.ends <= now_) done.push_back(worker);
    }
    for (const std::string& worker : done) EndPiece(worker);
    EndOverdue();
    Settle();
  }
  now_ = std::max(now_, time);
}

void Simulator::Run() {
  while (!jobs_.empty()) RunUntil(NextEvent());
}

void Simulator::Settle() {
  for (bool more = true; more;) {
    const Actions actions = Plan(Now(), now_);
    for (const Action& action : actions.list) {
      std::visit([this](const auto& one) { CarryOut(one); }, action);
    }
    more = actions.more;
  }
  BeginPieces();
}

// Each worker that stands still goes on with the first that it holds.
void Simulator::BeginPieces() {
  for (const auto& [name, worker] : workers_.workers()) {
    if (pieces_.contains(name)) continue;
    const std::string* first = nullptr;
    double least = 0;
    for (const auto& [id, held] : worker.held) {
      if (held.parked() || (first != nullptr && held.order_key >= least)) continue;
      first = &id;
      least = held.order_key;
    }
    if (first == nullptr) continue;
    PlannedJob& job = jobs_.at(*first);
    HeldJob& held = HeldOf(job);
    absl::Duration takes = kText;
    if (job.started == absl::InfiniteDuration()) {
      job.started = now_;
      began_.push_back(job.id);
      ends_.at(job.id).began = now_;
      ends_.at(job.id).worker = name;
      held.started = true;
      job.stage = model::Stage::kTextEncode;
    } else {
      const double off = std::uniform_real_distribution<double>(1 - noise_, 1 + noise_)(random_);
      job.stage = model::Stage::kDenoise;
      held.stepped_since = std::min(held.stepped_since, now_);
      takes = off * job.cost.passes.front().step;
    }
    used_[job.id] += takes;
    pieces_[name] = {job.id, now_ + takes};
  }
}

void Simulator::EndPiece(const std::string& worker) {
  const std::string id = pieces_.extract(worker).mapped().job;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  PlannedJob& job = found->second;
  if (job.stage != model::Stage::kDenoise) return;
  if (++job.step == job.need.shape.steps()) return End(id, true);
  HeldJob& held = HeldOf(job);
  held.left = job.cost.Left(job.step);
  held.ran_enough |= !held.parked() && job.step - held.stepped_from >= kLeastStepsRun &&
                     now_ - held.stepped_since >= kLeastTimeRun;
}

void Simulator::End(const std::string& id, bool in_time) {
  PlannedJob& job = jobs_.at(id);
  SimulatedEnd& end = ends_.at(id);
  end.in_time = in_time;
  end.ended = now_;
  end.preemptions = job.preemptions;
  share_.Charge(job.tenant, job.devices * used_[id] - job.charged);
  if (job.at_worker()) workers_.Find(job.worker)->held.erase(id);
  jobs_.erase(id);
}

void Simulator::EndOverdue() {
  std::vector<std::string> overdue;
  for (const auto& [id, job] : jobs_) {
    if (job.deadline <= now_) overdue.push_back(id);
  }
  for (const std::string& id : overdue) End(id, false);
}

void Simulator::CarryOut(const action::Assign& now) {
  PlannedJob& job = jobs_.at(now.job);
  PlannedWorker& worker = *workers_.Find(now.worker);
  job.held_back = absl::InfiniteDuration();
  job.need.shape.where = workers_.WhereOf(worker, kModel);
  job.cost = costs_.Predict(job.need.shape);
  job.life = JobPhase(Phase::kAssigned);
  job.worker = now.worker;
  job.devices = worker.num_devices();
  job.charged = job.devices * job.cost.p50();
  share_.Charge(job.tenant, job.charged);
  HeldJob held;
  held.shape = job.need.shape;
  held.left = job.cost.p50();
  held.order_key = ++last_key_;
  worker.held[job.id] = std::move(held);
}

void Simulator::CarryOut(const action::PutLast& now) {
  HeldOf(jobs_.at(now.job)).order_key = ++last_key_;
}

void Simulator::CarryOut(const action::Park& now) {
  PlannedJob& job = jobs_.at(now.job);
  HeldJob& held = HeldOf(job);
  held.parked_for = now.before;
  held.ran_enough = false;
  held.order_key = ++last_key_;
  ++job.preemptions;
}

void Simulator::CarryOut(const action::Resume& now) {
  PlannedJob& job = jobs_.at(now.job);
  HeldJob& held = HeldOf(job);
  held.parked_for.clear();
  held.stepped_since = now_;
  held.stepped_from = job.step;
}

}  // namespace reel::front
