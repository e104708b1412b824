// SPDX-License-Identifier: Apache-2.0
#include "model/frames/later_frames.h"

#include <algorithm>
#include <utility>

namespace reel::model {
namespace {

class LaterFrames final : public FrameSource {
 public:
  LaterFrames(int64_t count, FrameSourcePtr source) : left_(count), source_(std::move(source)) {}

  Frames Next(const Ops& ops) override {
    Frames frames = source_->Next(ops);
    while (!frames.none() && left_ >= frames.x.size(2) && !frames.last) {
      left_ -= frames.x.size(2);
      frames = source_->Next(ops);
    }
    if (frames.none()) return frames;
    frames.x = frames.x.slice(2, std::exchange(left_, 0));
    return frames;
  }

 private:
  int64_t left_;  // to leave out
  const FrameSourcePtr source_;
};

}  // namespace

FrameSourcePtr WithoutFirst(int64_t count, FrameSourcePtr source) {
  if (count == 0) return source;
  return std::make_unique<LaterFrames>(count, std::move(source));
}

}  // namespace reel::model
