// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/event_lane.h"

#include <utility>

namespace reel::front {

EventLane::EventLane(int64_t max_bytes, absl::AnyInvocable<void()> on_room)
    : max_bytes_(max_bytes), on_room_(std::move(on_room)), thread_([this] { Run(); }) {}

EventLane::~EventLane() { End(); }

void EventLane::End() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool EventLane::Post(Event event, int64_t bytes) {
  bool room;
  {
    MutexLock lock(mutex_);
    if (ending_) return false;
    items_.push_back({std::move(event), bytes});
    bytes_ += bytes;
    room = bytes_ < max_bytes_;
    if (!room) full_ = true;
  }
  changed_.NotifyOne();
  return room;
}

void EventLane::Run() {
  for (;;) {
    Item item;
    {
      MutexLock lock(mutex_);
      while (items_.empty() && !ending_) changed_.Wait(mutex_);
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    item.event();
    bool room_again = false;
    {
      // Only now: bytes count for as long as somebody holds them.
      MutexLock lock(mutex_);
      bytes_ -= item.bytes;
      room_again = full_ && bytes_ <= max_bytes_ / 2;
      if (room_again) full_ = false;
    }
    if (room_again) on_room_();
  }
}

}  // namespace reel::front
