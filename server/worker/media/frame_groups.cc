// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/frame_groups.h"

#include <algorithm>
#include <utility>

namespace reel::worker {
namespace {

bool BeginsGroup(int frame) { return frame == 0 || (frame > 1 && frame % kGroupFrames == 1); }

}  // namespace

class FrameGroups::Group {
 public:
  std::deque<Frame> frames;
  std::deque<AvPacketPtr> packets;
  absl::Status status;
  bool taken = false;
  bool whole = false;    // no further frames will come
  bool encoded = false;  // no further packets will come
};

FrameGroups::FrameGroups(int first) : first_(first) {}
FrameGroups::~FrameGroups() = default;

void FrameGroups::Push(Frame frame) {
  MutexLock lock(mutex_);
  if (abandoned_) return;
  if (groups_.empty() || groups_.back()->whole) groups_.push_back(std::make_unique<Group>());
  groups_.back()->frames.push_back(std::move(frame));
  groups_.back()->whole = BeginsGroup(first_ + ++pushed_);
  changed_.NotifyAll();
}

void FrameGroups::Finish() {
  MutexLock lock(mutex_);
  finished_ = true;
  if (!groups_.empty()) groups_.back()->whole = true;
  changed_.NotifyAll();
}

void FrameGroups::Abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
  for (const auto& group : groups_) group->frames.clear();
  changed_.NotifyAll();
}

int FrameGroups::waiting() const {
  MutexLock lock(mutex_);
  return pushed_ - handed_out_;
}

int FrameGroups::pushed() const {
  MutexLock lock(mutex_);
  return pushed_;
}

FrameGroups::Group* FrameGroups::Take() {
  MutexLock lock(mutex_);
  for (; !abandoned_; changed_.Wait(mutex_)) {
    const auto free = std::find_if(groups_.begin(), groups_.end(),
                                   [](const auto& group) { return !group->taken; });
    if (free != groups_.end()) {
      (*free)->taken = true;
      return free->get();
    }
    if (finished_) break;
  }
  return nullptr;
}

std::optional<FrameGroups::Frame> FrameGroups::NextFrame(Group& group) {
  MutexLock lock(mutex_);
  while (group.frames.empty() && !group.whole && !abandoned_) changed_.Wait(mutex_);
  if (group.frames.empty()) return std::nullopt;
  Frame frame = std::move(group.frames.front());
  group.frames.pop_front();
  return frame;
}

void FrameGroups::Add(Group& group, AvPacketPtr packet) {
  MutexLock lock(mutex_);
  group.packets.push_back(std::move(packet));
  changed_.NotifyAll();
}

void FrameGroups::Done(Group& group, absl::Status status) {
  MutexLock lock(mutex_);
  group.status = std::move(status);
  group.encoded = true;
  changed_.NotifyAll();
}

absl::StatusOr<FrameGroups::HandedOut> FrameGroups::NextPacket() {
  MutexLock lock(mutex_);
  for (; !abandoned_; changed_.Wait(mutex_)) {
    while (!groups_.empty()) {
      Group& first = *groups_.front();
      if (!first.packets.empty()) {
        AvPacketPtr packet = std::move(first.packets.front());
        first.packets.pop_front();
        ++handed_out_;
        return HandedOut{std::move(packet), pushed_ - handed_out_};
      }
      if (!first.encoded) break;
      if (!first.status.ok()) return first.status;
      // An incomplete group must not end: its lane waits for the rest.
      groups_.pop_front();
    }
    if (groups_.empty() && finished_) return HandedOut();
  }
  return absl::CancelledError("The encoder was abandoned");
}

}  // namespace reel::worker
