// SPDX-License-Identifier: Apache-2.0
// A collector that answers as it is told, and counts of what became of traces.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "server/front/traces/collector.h"
#include "server/front/traces/trace_observer.h"

namespace reel::front {

inline constexpr absl::Duration kPatience = absl::Seconds(30);

// Thread-safe.
class FakeCollector final : public Collector {
 public:
  SendResult Send(const std::string& body) override {
    MutexLock lock(mutex_);
    ++calls_;
    changed_.NotifyAll();
    while (closed_) changed_.Wait(mutex_);
    bodies_.push_back(body);
    SendResult result;
    if (!answers_.empty()) {
      result.outcome = answers_.front();
      answers_.pop_front();
    }
    result.refused_spans = left_out_;
    changed_.NotifyAll();
    return result;
  }
  void Hurry() override {
    MutexLock lock(mutex_);
    hurried_ = true;
  }

  // Holds what is sent until it is opened.
  void Close() { SetClosed(true); }
  void Open() { SetClosed(false); }
  // In this order; everything else is taken.
  void AnswerNext(std::deque<SendResult::Outcome> answers) {
    MutexLock lock(mutex_);
    answers_ = std::move(answers);
  }
  // From now on, of each body.
  void LeaveOut(int spans) {
    MutexLock lock(mutex_);
    left_out_ = spans;
  }
  bool hurried() {
    MutexLock lock(mutex_);
    return hurried_;
  }
  void AwaitCalls(int count) {
    const absl::Time end = absl::Now() + kPatience;
    MutexLock lock(mutex_);
    while (calls_ < count && absl::Now() < end) changed_.WaitFor(mutex_, end - absl::Now());
  }
  // What was answered, once there is so much of it.
  std::vector<std::string> Await(size_t count) {
    const absl::Time end = absl::Now() + kPatience;
    MutexLock lock(mutex_);
    while (bodies_.size() < count && absl::Now() < end) {
      changed_.WaitFor(mutex_, end - absl::Now());
    }
    return bodies_;
  }

 private:
  void SetClosed(bool closed) {
    MutexLock lock(mutex_);
    closed_ = closed;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> bodies_ ABSL_GUARDED_BY(mutex_);
  std::deque<SendResult::Outcome> answers_ ABSL_GUARDED_BY(mutex_);
  int left_out_ ABSL_GUARDED_BY(mutex_) = 0;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool hurried_ ABSL_GUARDED_BY(mutex_) = false;
};

// Thread-safe.
class TraceCounts final : public TraceObserver {
 public:
  void TracesEnded(TraceEnd how, int count) override {
    MutexLock lock(mutex_);
    counts_[how] += count;
    changed_.NotifyAll();
  }
  void SpansRefused(int64_t count) override {
    MutexLock lock(mutex_);
    refused_spans_ += count;
  }
  int64_t refused_spans() {
    MutexLock lock(mutex_);
    return refused_spans_;
  }
  int Of(TraceEnd how) { return Await(how, 0); }
  // Once it is at least so many.
  int Await(TraceEnd how, int count) {
    const absl::Time end = absl::Now() + kPatience;
    MutexLock lock(mutex_);
    while (counts_[how] < count && absl::Now() < end) {
      changed_.WaitFor(mutex_, end - absl::Now());
    }
    return counts_[how];
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<TraceEnd, int> counts_ ABSL_GUARDED_BY(mutex_);
  int64_t refused_spans_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace reel::front
