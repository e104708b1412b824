// SPDX-License-Identifier: Apache-2.0
// Plays videos on workers without a clock: admission asks the forecast, the plan says what runs
// where, and time goes from one event to the next. Workers make one step at a time, of the first
// that they hold; steps are not shared.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/front/scheduling/forecast.h"
#include "server/front/scheduling/plan.h"
#include "server/front/scheduling/state.h"

namespace reel::front {

// A table whose workers a test adds.
class SimulatedWorkers : public WorkerTable {
 public:
  using WorkerTable::WorkerTable;
  PlannedWorker& Add(const std::string& name, const std::string& device);
  void SetWeights(const std::string& model, int64_t bytes);
};

struct SimulatedVideo {
  std::string id;
  std::string tenant = "t";
  double step_seconds = 1;  // on a worker of speed 1
  int steps = 10;
  absl::Duration timeout = absl::Minutes(10);
  Priority priority = Priority::kNormal;
  std::string worker = {};  // empty: any
};

// What became of a video.
struct SimulatedEnd {
  bool refused = false, makes_late = false, in_time = false;
  absl::Duration came, quoted;  // its wait
  absl::Duration began = absl::InfiniteDuration(), ended = absl::InfiniteDuration();
  std::string worker;
  int preemptions = 0;
};

class Simulator {
 public:
  explicit Simulator(JobOptions options = {});

  void AddWorker(const std::string& name, const std::string& device = "cpu", double speed = 1);
  void SetWeight(const std::string& tenant, double weight) { share_.SetWeight(tenant, weight); }
  // Steps take up to so much more or less than they are predicted to; 0.1: a tenth.
  void SetNoise(double noise) { noise_ = noise; }

  // Comes now. False: it is refused.
  bool Submit(const SimulatedVideo& video);
  void RunUntil(absl::Duration time);
  // Until all have ended.
  void Run();

  absl::Duration now() const { return now_; }
  State Now() const;
  size_t num_live() const { return jobs_.size(); }
  const SimulatedEnd& EndOf(const std::string& id) const { return ends_.at(id); }
  const std::map<std::string, SimulatedEnd>& ends() const { return ends_; }
  // As the videos began.
  const std::vector<std::string>& began() const { return began_; }

 private:
  // A worker's text or step under way.
  struct Piece {
    std::string job;
    absl::Duration ends;
  };

  Need NeedOf(const SimulatedVideo& video) const;
  // Every kind of device has run its like.
  void Learn(const SimulatedVideo& video);
  double SpeedOf(const std::string& worker) const { return speeds_.at(worker); }
  Answered Ask(const SimulatedVideo& video, const PlannedJob& job,
               const std::vector<KindCost>& kinds) const;
  absl::Duration NextEvent() const;
  void Settle();
  void BeginPieces();
  void EndPiece(const std::string& worker);
  void End(const std::string& id, bool in_time);
  void EndOverdue();

  void CarryOut(const action::Assign& now);
  void CarryOut(const action::HoldBack& now) { jobs_.at(now.job).held_back = now_; }
  void CarryOut(const action::PutLast& now);
  void CarryOut(const action::Park& now);
  void CarryOut(const action::Resume& now);
  void CarryOut(const action::Load&) {}
  void CarryOut(const action::Unload&) {}
  void CarryOut(const action::Refuse& now) { End(now.job, false); }
  HeldJob& HeldOf(const PlannedJob& job) { return workers_.Find(job.worker)->held.at(job.id); }

  const JobOptions options_;
  SimulatedWorkers workers_{options_};
  CostModel costs_;
  FairShare share_;
  std::map<std::string, PlannedJob> jobs_;
  std::map<std::string, double> speeds_;
  std::map<std::string, Piece> pieces_;  // by worker
  std::map<std::string, SimulatedEnd> ends_;
  std::map<std::string, absl::Duration> used_;  // device time, by job
  std::vector<std::string> began_;
  std::mt19937 random_;
  double noise_ = 0;
  absl::Duration now_;
  double last_key_ = 0;
  int64_t number_ = 0;
};

}  // namespace reel::front
