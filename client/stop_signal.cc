// SPDX-License-Identifier: Apache-2.0
#include "client/stop_signal.h"

#include <utility>

namespace reel::client {

void StopSignal::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  if (cancel_) cancel_();
  changed_.notify_all();
}

bool StopSignal::stopped() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stopped_;
}

bool StopSignal::Sleep(absl::Duration duration) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !changed_.wait_for(lock, absl::ToChronoNanoseconds(duration), [this] { return stopped_; });
}

StopSignal::Scope::Scope(StopSignal& signal, std::function<void()> cancel) : signal_(signal) {
  std::lock_guard<std::mutex> lock(signal_.mutex_);
  signal_.cancel_ = std::move(cancel);
  if (signal_.stopped_) signal_.cancel_();
}

StopSignal::Scope::~Scope() {
  std::lock_guard<std::mutex> lock(signal_.mutex_);
  signal_.cancel_ = nullptr;
}

}  // namespace reel::client
