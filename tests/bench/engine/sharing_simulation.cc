// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/engine/sharing_simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "server/worker/engine/batch.h"
#include "server/worker/engine/held_job.h"
#include "server/worker/engine/sharing_gains.h"
#include "server/worker/engine/step_row.h"
#include "server/worker/engine/turns.h"

namespace reel::worker {
namespace {

constexpr int kSteps = 30;
constexpr int64_t kRows = 512;
constexpr int64_t kFillRows = 16 * kRows;
constexpr double kTextMs = 2, kFramesMs = 3, kPreviewMs = 1.5, kLaunchMs = 0.3, kEncodeMs = 15;
constexpr int kPiecesOfFrames = 3, kPreviewEvery = 10;

class SimulatedGeneration final : public model::Generation {
 public:
  int step() const override { return step_; }
  int num_steps() const override { return kSteps; }
  int64_t rows() const override { return kRows; }
  int64_t device_bytes() const override { return 0; }
  absl::Status Park(bool) override { return absl::OkStatus(); }
  absl::Status Resume() override { return absl::OkStatus(); }
  void Stepped() { ++step_; }

 private:
  int step_ = 0;
};

// As Engine::Impl::MoveOne goes about it.
class SimulatedEngine {
 public:
  SimulatedEngine(const CostShape& shape, const SimulatedLoad& load)
      : device_(shape, load.seed), fixed_(load.fixed) {}

  // Until so many more videos have ended, so many at a time.
  void Run(int in_flight, int videos);
  absl::Duration now() const { return now_ - absl::UnixEpoch(); }
  int64_t steps() const { return steps_; }
  int64_t stepped_jobs() const { return stepped_jobs_; }

 private:
  void Arrive();
  bool MoveOne();
  void MovePiece(HeldJob& job);
  void Step(const Batch& batch);
  void LearnFrom(const Batch& batch, absl::Duration took);
  // Work beside steps, which the host waits for.
  void Wait(double milliseconds);
  SimulatedDevice device_;
  const int fixed_;
  absl::Time now_ = absl::UnixEpoch(), device_end_ = now_;
  JobTable jobs_;
  Turns turns_;
  StepRow row_;
  SharingGains gains_;
  std::map<const HeldJob*, int> frames_left_;
  std::multimap<absl::Time, HeldJob*> encoding_;
  Batch last_;  // the latest step's, while the device goes from one to the next
  int ended_ = 0, number_ = 0;
  int64_t steps_ = 0, stepped_jobs_ = 0;
  absl::Time last_beside_ = absl::InfinitePast();
};

void SimulatedEngine::Arrive() {
  auto job = std::make_unique<HeldJob>();
  job->planned_rows = kRows;
  job->deadline = absl::InfiniteFuture();
  job->order_key = number_++;
  if (jobs_.AnyHasStepped()) last_beside_ = now_;
  jobs_.Add(std::move(job));
}

void SimulatedEngine::Run(int in_flight, int videos) {
  const int until = ended_ + videos;
  while (ended_ < until) {
    while (!encoding_.empty() && encoding_.begin()->first <= now_) {
      jobs_.Remove(*encoding_.begin()->second);
      encoding_.erase(encoding_.begin());
      ++ended_;
    }
    while (jobs_.all().size() < static_cast<size_t>(in_flight)) Arrive();
    if (!MoveOne()) now_ = std::max(now_, encoding_.begin()->first);
  }
}

bool SimulatedEngine::MoveOne() {
  HeldJob* lead = jobs_.FirstThatCanStep();
  const Batch batch =
      lead == nullptr
          ? Batch()
          : PickBatch(jobs_, *lead,
                      {kFillRows, &gains_, now_, fixed_, now_ - last_beside_ < absl::Minutes(2)});
  HeldJob* piece = PickPiece(jobs_, batch);
  if (piece == nullptr && batch.jobs.empty()) return false;
  const bool is_of_others = piece != nullptr && piece->phase == Phase::kDecode &&
                            !batch.jobs.empty() && !piece->GoesBefore(*batch.jobs.front());
  const auto beside = is_of_others ? Turns::Beside::kDecoding : Turns::Beside::kAhead;
  absl::Duration last_step;
  bool is_under_way = false;
  for (const HeldJob* job : batch.jobs) {
    last_step = std::max(last_step, job->last_step);
    is_under_way |= job->generation->step() > 0;
  }
  const bool takes_turns = is_under_way || is_of_others;
  if (piece == nullptr ||
      (takes_turns && !piece->preview_due && turns_.StepIsDue(beside, last_step))) {
    Step(batch);
    return true;
  }
  const bool counts = piece->phase != Phase::kCreate;
  const absl::Time began = now_;
  row_.Break();
  last_ = {};
  MovePiece(*piece);
  if (counts) turns_.Moved(beside, now_ - began);
  return true;
}

void SimulatedEngine::Wait(double milliseconds) {
  const absl::Time begin = std::max(now_, device_end_);
  now_ = device_end_ = begin + device_.Piece(milliseconds, begin);
}

void SimulatedEngine::MovePiece(HeldJob& job) {
  if (job.preview_due) {
    job.preview_due = false;
    return Wait(kPreviewMs);
  }
  if (job.phase == Phase::kCreate) {
    job.generation = std::make_unique<SimulatedGeneration>();
    job.phase = Phase::kBegin;
    return;
  }
  if (job.phase == Phase::kBegin) {
    job.phase = Phase::kDenoise;
    return Wait(kTextMs);
  }
  Wait(kFramesMs);
  if (--frames_left_[&job] > 0) return;
  job.phase = Phase::kEncode;
  frames_left_.erase(&job);
  encoding_.emplace(now_ + absl::Milliseconds(kEncodeMs), &job);
}

// A step of the same jobs as the one before returns when that one is done, the first and the last
// when they are done themselves.
void SimulatedEngine::Step(const Batch& batch) {
  const absl::Time began = now_;
  const bool is_next_of_row = batch.jobs == last_.jobs;
  const absl::Time before = device_end_;
  const absl::Time begin = std::max(now_, device_end_);
  device_end_ = begin + device_.Step(static_cast<int>(batch.jobs.size()), begin);
  bool is_last = false;
  for (const HeldJob* job : batch.jobs) is_last |= job->generation->step() + 1 == kSteps;
  now_ = is_next_of_row && !is_last ? std::max(now_ + absl::Milliseconds(kLaunchMs), before)
                                    : device_end_;
  last_ = batch;
  const absl::Duration took = now_ - began;
  ++steps_;
  stepped_jobs_ += static_cast<int64_t>(batch.jobs.size());
  turns_.Stepped(took);
  for (HeldJob* job : batch.jobs) static_cast<SimulatedGeneration&>(*job->generation).Stepped();
  LearnFrom(batch, took);
  for (HeldJob* job : batch.jobs) {
    job->last_step = took;
    const int step = job->generation->step();
    job->preview_due = job->order_key != 0 && static_cast<int>(job->order_key) % 4 == 0 &&
                       step % kPreviewEvery == 0;
    if (step < kSteps) continue;
    job->phase = Phase::kDecode;
    frames_left_[job] = kPiecesOfFrames;
  }
}

// As Engine::Impl::LearnGain does.
void SimulatedEngine::LearnFrom(const Batch& batch, absl::Duration took) {
  std::vector<int64_t> arrivals;
  bool tells = true;
  for (const HeldJob* job : batch.jobs) {
    arrivals.push_back(job->arrival);
    tells &= job->generation->step() > 1 && job->generation->step() < kSteps;
  }
  tells &= row_.Tells(std::move(arrivals));
  gains_.Stepped(SharersOf(batch), took, tells);
  if (batch.could_share.empty()) return;
  const Sharers all = {"", batch.jobs[0]->plan.name(), batch.could_share};
  gains_.PassedOver(all, batch.jobs.size(), took);
}

}  // namespace

SimulatedResult Simulate(const CostShape& shape, const SimulatedLoad& load) {
  SimulatedEngine engine(shape, load);
  for (const int few : {1, 2, 4}) {
    if (few < load.in_flight) engine.Run(few, 6);
  }
  engine.Run(load.in_flight, load.settled * load.in_flight);
  const absl::Duration began = engine.now();
  const int64_t steps = engine.steps(), jobs = engine.stepped_jobs();
  const int videos = 12 * load.in_flight;
  engine.Run(load.in_flight, videos);
  return {videos / absl::ToDoubleSeconds(engine.now() - began),
          static_cast<double>(engine.stepped_jobs() - jobs) /
              static_cast<double>(engine.steps() - steps)};
}

double BestFixed(const CostShape& shape, int in_flight) {
  double best = 0;
  for (int fixed = 1; fixed <= in_flight; fixed *= 2) {
    double sum = 0;
    constexpr int kSeeds = 3;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      sum += Simulate(shape, {in_flight, fixed, seed}).videos_a_second;
    }
    best = std::max(best, sum / kSeeds);
  }
  return best;
}

}  // namespace reel::worker
