// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/stream_pump.h"

#include <algorithm>
#include <utility>

namespace reel::front {

StreamPump::StreamPump(int threads, absl::Duration period)
    : pumps_(static_cast<size_t>(threads)), period_(period) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { RunPump(); });
  threads_.emplace_back([this] { RunWatch(); });
}

StreamPump::~StreamPump() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    posted_.NotifyAll();
    stop_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void StreamPump::Post(std::shared_ptr<Pumped> stream) {
  MutexLock lock(mutex_);
  waiting_.push_back(std::move(stream));
  // Once as many wait as there are threads, each thread has been told and works until all is done.
  // So a job with thousands of readers need not wake anybody thousands of times.
  if (waiting_.size() <= pumps_) posted_.NotifyOne();
}

void StreamPump::Watch(std::weak_ptr<Pumped> stream) {
  std::shared_ptr<Pumped> late;
  {
    MutexLock lock(mutex_);
    if (closing_) late = stream.lock();
    watched_.push_back(std::move(stream));
  }
  if (late != nullptr) late->Close();
}

void StreamPump::CloseAll() {
  std::vector<std::shared_ptr<Pumped>> alive;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    alive = Alive();
  }
  for (const auto& stream : alive) stream->Close();
}

std::vector<std::shared_ptr<Pumped>> StreamPump::Alive() {
  std::erase_if(watched_, [](const auto& stream) { return stream.expired(); });
  std::vector<std::shared_ptr<Pumped>> alive;
  for (const auto& stream : watched_) {
    if (auto held = stream.lock()) alive.push_back(std::move(held));
  }
  return alive;
}

void StreamPump::RunPump() {
  for (;;) {
    std::shared_ptr<Pumped> next;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) posted_.Wait(mutex_);
      if (stopping_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next->Pump();
  }
}

void StreamPump::RunWatch() {
  for (;;) {
    std::vector<std::shared_ptr<Pumped>> alive;
    {
      MutexLock lock(mutex_);
      const absl::Time next = absl::Now() + period_;
      while (!stopping_ && absl::Now() < next) stop_.WaitFor(mutex_, next - absl::Now());
      if (stopping_) return;
      alive = Alive();
    }
    for (const auto& stream : alive) stream->Check();
  }
}

}  // namespace reel::front
