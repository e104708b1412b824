// SPDX-License-Identifier: Apache-2.0
// Remembers what rpc/ reports, so that a test can compare it with what a client saw.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "kernels/base/mutex.h"
#include "server/front/api/call_observer.h"

namespace reel::front {

// Thread-safe.
class RecordingCallObserver final : public CallObserver {
 public:
  void CallStarted(Method method) override {
    Do([&] { ++started[method]; });
  }
  void CallReceived(Method method) override {
    Do([&] { ++received[method]; });
  }
  void CallSent(Method method) override {
    Do([&] { ++sent[method]; });
  }
  void CallEnded(Method method, absl::StatusCode code, absl::Duration) override {
    Do([&] { ++ended[{method, code}]; });
  }
  void RequestRefused(const absl::Status& why, bool detached) override {
    Do([&] { refused.emplace_back(why, detached); });
  }
  void StreamOpened() override {
    Do([&] { ++open_streams; });
  }
  void StreamClosed() override {
    Do([&] { --open_streams; });
  }
  void StreamBuffered(int64_t bytes) override {
    Do([&] { buffered += bytes; });
  }
  void FirstEvent(absl::Duration) override {
    Do([&] { ++first_events; });
  }
  void FirstChunk(absl::Duration) override {
    Do([&] { ++first_chunks; });
  }
  void PreviewSent() override {
    Do([&] { ++previews; });
  }
  void SlowReaderCut() override {
    Do([&] { ++slow_cuts; });
  }

  // Runs `look` with everything held still.
  template <typename F>
  auto Look(const F& look) {
    MutexLock lock(mutex_);
    return look(*this);
  }
  // Waits until `condition` holds.
  template <typename F>
  void WaitUntil(const F& condition) {
    MutexLock lock(mutex_);
    while (!condition(*this)) changed_.Wait(mutex_);
  }

  std::map<Method, int> started, received, sent;
  std::map<std::pair<Method, absl::StatusCode>, int> ended;
  std::vector<std::pair<absl::Status, bool>> refused;
  int open_streams = 0, first_events = 0, first_chunks = 0, previews = 0, slow_cuts = 0;
  int64_t buffered = 0;

 private:
  template <typename F>
  void Do(const F& change) {
    MutexLock lock(mutex_);
    change();
    changed_.NotifyAll();
  }
  Mutex mutex_;
  CondVar changed_;
};

}  // namespace reel::front
