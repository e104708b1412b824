// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/trace_exporter.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "server/front/traces/video_trace.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

using Clock = std::chrono::steady_clock;
using Outcome = SendResult::Outcome;

}  // namespace

TraceExporter::TraceExporter(TraceExporterOptions options, Collector& collector,
                             TraceObserver& observer)
    : options_(std::move(options)),
      collector_(collector),
      observer_(observer),
      thread_([this] { Run(); }) {}

TraceExporter::~TraceExporter() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  collector_.Hurry();
  thread_.join();
}

void TraceExporter::Add(Trace trace) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() < options_.most_waiting) {
      waiting_.push_back(std::move(trace));
      // The thread waits for the first one, or for a full batch.
      if (waiting_.size() == 1 || waiting_.size() == options_.most_sent) changed_.NotifyAll();
      return;
    }
  }
  observer_.TracesEnded(TraceEnd::kFull, 1);
}

std::vector<Trace> TraceExporter::TakeBatch() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
  const auto end = Clock::now() + absl::ToChronoNanoseconds(options_.gather);
  while (!stopping_ && waiting_.size() < options_.most_sent && Clock::now() < end) {
    changed_.WaitFor(mutex_, absl::FromChrono(end - Clock::now()));
  }
  const auto cut =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), options_.most_sent));
  std::vector<Trace> batch(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(cut));
  waiting_.erase(waiting_.begin(), cut);
  return batch;
}

bool TraceExporter::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

bool TraceExporter::Pause(absl::Duration pause) {
  const auto end = Clock::now() + absl::ToChronoNanoseconds(pause);
  MutexLock lock(mutex_);
  while (!stopping_ && Clock::now() < end) {
    changed_.WaitFor(mutex_, absl::FromChrono(end - Clock::now()));
  }
  return !stopping_;
}

void TraceExporter::Run() {
  for (;;) {
    const std::vector<Trace> batch = TakeBatch();
    if (batch.empty()) return;
    // A collector that is away gets no further try: the end of the server does not wait for it.
    if (!reached_ && stopping()) {
      observer_.TracesEnded(TraceEnd::kLost, static_cast<int>(batch.size()));
    } else {
      Deliver(batch);
    }
  }
}

void TraceExporter::Deliver(const std::vector<Trace>& batch) {
  const int count = static_cast<int>(batch.size());
  const std::string body = OtlpJson(batch, options_.resource);
  absl::Duration pause = options_.first_pause;
  for (;;) {
    const SendResult result = collector_.Send(body);
    const bool reached = result.outcome != Outcome::kLater;
    if (reached && !reached_) Log(LogLevel::kInfo, "Traces are taken again");
    if (!reached && reached_) {
      Log(LogLevel::kWarning, "Traces cannot be sent; they wait, and are dropped when too many do",
          {{"error", result.why}});
    }
    reached_ = reached;
    if (result.outcome == Outcome::kTaken) {
      if (result.refused_spans > 0) {
        Log(LogLevel::kWarning, "The collector took traces without some of their spans",
            {{"error", result.why}, {"spans", result.refused_spans}});
        observer_.SpansRefused(result.refused_spans);
      }
      return observer_.TracesEnded(TraceEnd::kSent, count);
    }
    if (result.outcome == Outcome::kRefused) {
      Log(LogLevel::kError, "The collector refused traces; they are dropped",
          {{"error", result.why}, {"traces", count}});
      return observer_.TracesEnded(TraceEnd::kRefused, count);
    }
    const absl::Duration wait = std::min(std::max(pause, result.wait), options_.longest_pause);
    if (!Pause(wait)) return observer_.TracesEnded(TraceEnd::kLost, count);
    pause = std::min(pause * 2, options_.longest_pause);
  }
}

void TracedEnds::JobEnded(const Video& video, bool detached) {
  if (IsTraced(video, share_)) exporter_.Add(TraceOf(video, detached));
}

}  // namespace reel::front
