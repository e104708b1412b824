// SPDX-License-Identifier: Apache-2.0
// Sends traces to a collector in batches, from a thread of its own. Nobody waits for it: what does
// not fit into its queue is dropped and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "server/front/jobs/job_observer.h"
#include "server/front/traces/collector.h"
#include "server/front/traces/otlp.h"
#include "server/front/traces/trace_observer.h"

namespace reel::front {

struct TraceExporterOptions {
  TraceResource resource;
  size_t most_waiting = 512;                      // traces; beside those that are being sent
  size_t most_sent = 64;                          // traces in a batch
  absl::Duration gather = absl::Seconds(1);       // how long a batch waits for more
  absl::Duration first_pause = absl::Seconds(1);  // after a failure; doubles
  absl::Duration longest_pause = absl::Seconds(30);
};

// Thread-safe.
class TraceExporter {
 public:
  // `collector` and `observer` outlive it.
  TraceExporter(TraceExporterOptions options, Collector& collector, TraceObserver& observer);
  // Sends what waits, once, if the collector was there the last time; takes half a second at most.
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;

  // Never blocks.
  void Add(Trace trace);

 private:
  void Run();
  // What is to be sent next; empty: it ends.
  std::vector<Trace> TakeBatch();
  void Deliver(const std::vector<Trace>& batch);
  // Before the same batch is tried again; false: it ends.
  bool Pause(absl::Duration pause);
  bool stopping();

  const TraceExporterOptions options_;
  Collector& collector_;
  TraceObserver& observer_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Trace> waiting_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool reached_ = true;  // the last time; of its thread
  std::thread thread_;
};

// Hands the traces of videos that end to the exporter.
// Confined to the dispatcher's thread.
class TracedEnds final : public EndListener {
 public:
  // `exporter` outlives it. `share`: of the videos whose callers leave it open.
  TracedEnds(TraceExporter& exporter, double share) : exporter_(exporter), share_(share) {}

  void JobEnded(const Video& video, bool detached) override;

 private:
  TraceExporter& exporter_;
  const double share_;
};

}  // namespace reel::front
