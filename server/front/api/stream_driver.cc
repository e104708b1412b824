// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/stream_driver.h"

#include <utility>

#include "server/errors/error.h"

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

StreamDriver::StreamDriver(StreamCall& call, StreamPump& pump, absl::Duration stall_limit)
    : pump_(pump), stall_limit_(stall_limit), call_(&call) {}

void StreamDriver::Start() {
  {
    MutexLock lock(mutex_);
    started_ = true;
  }
  Wake();
}

void StreamDriver::Fail(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    if (!failure_) failure_ = status;
  }
  Wake();
}

void StreamDriver::FailNow(const absl::Status& status) {
  MutexLock lock(mutex_);
  if (!failure_) failure_ = status;
  Advance();
}

void StreamDriver::OnWriteDone(bool ok) {
  MutexLock lock(mutex_);
  writing_ = false;
  if (!ok && !failure_) {
    failure_ = absl::CancelledError();
    if (end_ == StreamEnd::kServed) end_ = StreamEnd::kCallerGone;
  }
  Advance();
}

void StreamDriver::OnCancel() {
  MutexLock lock(mutex_);
  // gRPC also cancels a call that has ended well; then there is nothing to note.
  if (finished_) return;
  if (end_ == StreamEnd::kServed) end_ = StreamEnd::kCallerGone;
  if (!failure_) failure_ = absl::CancelledError();
  Advance();
}

StreamEnd StreamDriver::Detach() {
  MutexLock lock(mutex_);
  call_ = nullptr;
  return end_;
}

void StreamDriver::Wake() {
  {
    MutexLock lock(mutex_);
    if (posted_ || call_ == nullptr || finished_) return;
    posted_ = true;
  }
  pump_.Post(shared_from_this());
}

void StreamDriver::Pump() {
  MutexLock lock(mutex_);
  posted_ = false;
  Advance();
}

void StreamDriver::Check() {
  MutexLock lock(mutex_);
  if (call_ == nullptr || finished_) return;
  CheckStall();
  CheckAllowed();
}

void StreamDriver::CheckStall() {
  if (!writing_ || aborted_) return;
  if (absl::FromChrono(Clock::now() - write_began_) < stall_limit_) return;
  // A Finish behind a stuck write would never complete, so the call is broken off.
  aborted_ = true;
  end_ = StreamEnd::kSlowReader;
  call_->Abort();
}

void StreamDriver::CheckAllowed() {
  if (!started_ || failure_) return;
  absl::Status allowed = call_->Allowed();
  if (allowed.ok()) return;
  // A job that depends on the call has lost its owner.
  if (end_ == StreamEnd::kServed) end_ = StreamEnd::kCallerGone;
  failure_ = std::move(allowed);
  Advance();
}

void StreamDriver::Close() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  Wake();
}

void StreamDriver::Advance() {
  if (call_ == nullptr || finished_ || writing_) return;
  if (failure_) return FinishOnce(*failure_);
  if (!started_) return;
  absl::Status end;
  switch (call_->Prepare(end)) {
    case StreamStep::kWait:
      if (closing_) FinishOnce(MakeError(Reason::kServerDraining, "The server is shutting down"));
      return;
    case StreamStep::kMessage:
      writing_ = true;
      write_began_ = Clock::now();
      call_->StartWrite();
      return;
    case StreamStep::kEnd:
      FinishOnce(end);
      return;
  }
}

void StreamDriver::FinishOnce(const absl::Status& status) {
  finished_ = true;
  call_->Finish(status);
}

}  // namespace reel::front
