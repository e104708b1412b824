// SPDX-License-Identifier: Apache-2.0
// The dispatcher's view of the devices: who they are, what they are told, and what they report.
// Free of gRPC and protobuf, so that jobs/ can be tested with a pool that is a script.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "model/load_options.h"
#include "server/front/workers/worker_info.h"
#include "server/protocol/assignment.h"
#include "server/protocol/worker_report.h"

namespace reel::front {

// Why a worker is gone, as far as can be known.
enum class LossCause {
  kKilled,     // by a signal that reeld did not send: blames no job
  kExit,       // it ended with a status
  kSticky,     // exit code 42: its device context was lost
  kHang,       // our watchdog ended it: a step took too long
  kHeartbeat,  // no life sign
  kDevice,     // exit code 43: its device is gone or cannot be opened; blames no job
};

// The name that the log and the metrics share.
inline const char* LossCauseName(LossCause cause) {
  switch (cause) {
    case LossCause::kKilled:
      return "killed";
    case LossCause::kExit:
      return "exit";
    case LossCause::kSticky:
      return "sticky";
    case LossCause::kDevice:
      return "device";
    case LossCause::kHang:
      return "hang";
    case LossCause::kHeartbeat:
      return "heartbeat";
  }
  return "exit";
}

// Reports, in each worker's own order. Called on the pool's threads: post and return, but for
// JobMedia, whose caller may be held while the disk queue is full.
class WorkerEvents {
 public:
  virtual ~WorkerEvents() = default;
  // Any change of it, also its first appearance.
  virtual void WorkerChanged(const WorkerInfo& worker) = 0;
  // Its jobs are lost with it, all of them.
  virtual void WorkerLost(const std::string& worker, LossCause cause) = 0;
  // All that it says itself. What it says of its kernels is in its WorkerInfo too.
  virtual void Report(WorkerReport report) = 0;
};

// Commands. Thread-safe, never block; one to a worker that is gone is dropped, since its loss is
// reported anyway.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;
  virtual std::vector<WorkerInfo> Workers() const = 0;
  virtual void Assign(const std::string& worker, Assignment assignment) = 0;
  virtual void Cancel(const std::string& worker, const std::string& job) = 0;
  virtual void Reorder(const std::string& worker, const std::string& job, double order_key) = 0;
  // Steps it no further and keeps what it has, in host memory if told so; until Resume.
  virtual void Park(const std::string& worker, const std::string& job, bool to_host) = 0;
  virtual void Resume(const std::string& worker, const std::string& job) = 0;
  // Loads a model beside what the worker does; one of its name serves until then, and on if that
  // fails. ModelLoaded or ModelFailed with the revision answers it, also when the worker is lost. A
  // worker without a process begins with it.
  virtual void LoadModel(const std::string& worker, const model::LoadOptions& options,
                         int64_t revision) = 0;
  // It finishes the jobs that it has.
  virtual void UnloadModel(const std::string& worker, const std::string& model) = 0;
  // The same of one that is loaded on demand, and may come again.
  virtual void PutOutModel(const std::string& worker, const std::string& model) = 0;
  // One that is out of service starts again, as if it had never failed; of another nothing changes.
  virtual void Restore(const std::string& worker) = 0;
  // A worker on which this step takes longer than `limit` is killed (LossCause::kHang); the
  // dispatcher renews it as its predictions change.
  virtual void SetStepLimit(const std::string& worker, absl::Duration limit) = 0;
};

}  // namespace reel::front
