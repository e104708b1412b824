// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/outbox.h"

#include <algorithm>
#include <utility>

#include "server/convert/proto_duration.h"

namespace reel::worker {
namespace {

using worker::v1::AttachRequest;

// Bytes of the job's file, or of the state that it leaves.
bool IsBulk(const AttachRequest& message) { return message.has_media() || message.has_state(); }

const std::string& JobOf(const AttachRequest& bulk) {
  return bulk.has_media() ? bulk.media().job() : bulk.state().job();
}

int64_t BytesOf(const AttachRequest& message) {
  return static_cast<int64_t>(message.media().data().size() + message.state().data().size());
}

// Whether `newer` makes `queued` superfluous. The first step and every change of stage stay.
bool IsStale(const AttachRequest& queued, const AttachRequest& newer) {
  if (queued.message_case() != newer.message_case()) return false;
  if (newer.has_heartbeat()) return true;
  if (newer.has_preview()) return queued.preview().job() == newer.preview().job();
  if (newer.has_progress()) {
    return queued.progress().job() == newer.progress().job() &&
           queued.progress().attempt() == newer.progress().attempt() &&
           queued.progress().stage() == newer.progress().stage() && queued.progress().step() > 1;
  }
  return false;
}

// Adds up what is counted. What is held is taken from the newer report.
void Gather(worker::v1::AdapterCounts& queued, const worker::v1::AdapterCounts& newer) {
  queued.set_uploaded(queued.uploaded() + newer.uploaded());
  queued.set_refused(queued.refused() + newer.refused());
  SetProtoDuration(*queued.mutable_took(),
                   FromProtoDuration(queued.took()) + FromProtoDuration(newer.took()));
  queued.set_held_bytes(newer.held_bytes());
}

void Gather(worker::v1::StepStats& queued, worker::v1::StepStats& newer) {
  for (worker::v1::Step& step : *newer.mutable_steps()) *queued.add_steps() = std::move(step);
  if (newer.has_memory()) *queued.mutable_memory() = newer.memory();
  queued.set_prompt_cache_hits(queued.prompt_cache_hits() + newer.prompt_cache_hits());
  queued.set_prompt_cache_misses(queued.prompt_cache_misses() + newer.prompt_cache_misses());
  queued.set_millijoules(queued.millijoules() + newer.millijoules());
  if (queued.has_adapters() || newer.has_adapters()) {
    Gather(*queued.mutable_adapters(), newer.adapters());
  }
  queued.set_weights_host_bytes(newer.weights_host_bytes());
  const int surplus = queued.steps_size() - Outbox::kMaxSteps;
  if (surplus > 0) queued.mutable_steps()->DeleteSubrange(0, surplus);
}

}  // namespace

bool Outbox::Replaces(Message& message) {
  for (Message& queued : control_) {
    if (queued.has_step_stats() && message.has_step_stats()) {
      Gather(*queued.mutable_step_stats(), *message.mutable_step_stats());
      return true;
    }
    if (IsStale(queued, message)) {
      queued = std::move(message);
      return true;
    }
  }
  return false;
}

bool Outbox::Push(Message message) {
  MutexLock lock(mutex_);
  while (IsBulk(message) && !closed_ && media_bytes_ >= max_media_bytes_) {
    changed_.Wait(mutex_);
  }
  if (closed_) return false;
  Put(std::move(message));
  changed_.NotifyAll();
  return true;
}

void Outbox::Put(Message message) {
  if (IsBulk(message) || message.has_finished()) {
    media_bytes_ += BytesOf(message);
    media_.push_back(std::move(message));
    return;
  }
  if (message.has_failed()) {
    std::erase_if(media_, [&](const Message& queued) {
      if (!IsBulk(queued) || JobOf(queued) != message.failed().job()) return false;
      media_bytes_ -= BytesOf(queued);
      return true;
    });
  } else if (Replaces(message)) {
    return;
  }
  control_.push_back(std::move(message));
}

std::optional<Outbox::Message> Outbox::Pop() {
  MutexLock lock(mutex_);
  while (control_.empty() && media_.empty() && !ended_ && !closed_) changed_.Wait(mutex_);
  std::deque<Message>& queue = control_.empty() ? media_ : control_;
  if (queue.empty()) return std::nullopt;
  Message message = std::move(queue.front());
  queue.pop_front();
  media_bytes_ -= BytesOf(message);
  changed_.NotifyAll();
  return message;
}

void Outbox::End() {
  MutexLock lock(mutex_);
  ended_ = true;
  changed_.NotifyAll();
}

void Outbox::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  control_.clear();
  media_.clear();
  media_bytes_ = 0;
  changed_.NotifyAll();
}

}  // namespace reel::worker
