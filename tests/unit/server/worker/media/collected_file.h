// SPDX-License-Identifier: Apache-2.0
// Collects the file of an encoder under test, and may hold the encoder's thread at its next piece.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "kernels/base/mutex.h"
#include "model/testcard/frame_pixels.h"
#include "model/testcard/picture.h"
#include "server/worker/media/video_encoder.h"

namespace reel::worker {

class CollectedFile {
 public:
  VideoEncoder::Output Output() {
    return [this](int64_t offset, std::string piece, bool fragment_end) {
      MutexLock lock(mutex_);
      ++calls_;
      changed_.NotifyAll();
      while (held_) changed_.Wait(mutex_);
      EXPECT_EQ(offset, static_cast<int64_t>(bytes_.size()));
      EXPECT_LE(piece.size(), size_t{1} << 20);
      bytes_ += piece;
      if (fragment_end) ends_.push_back(bytes_.size());
      changed_.NotifyAll();
    };
  }
  VideoEncoder::Signal Signal() {
    return [this] {
      MutexLock lock(mutex_);
      ++signals_;
      changed_.NotifyAll();
    };
  }
  void Hold() {
    MutexLock lock(mutex_);
    held_ = true;
  }
  void Release() {
    MutexLock lock(mutex_);
    held_ = false;
    changed_.NotifyAll();
  }
  template <typename Condition>
  bool WaitUntil(Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(60);
    MutexLock lock(mutex_);
    while (!condition() && absl::Now() < end) changed_.WaitFor(mutex_, absl::Seconds(1));
    return condition();
  }
  bool WaitForFragments(size_t count) {
    return WaitUntil([&] { return ends_.size() >= count; });
  }
  bool WaitForCalls(int count) {
    return WaitUntil([&] { return calls_ >= count; });
  }
  // Of one that has been finished or abandoned.
  bool WaitForDone(const VideoEncoder& encoder) {
    return WaitUntil([&] { return encoder.done(); });
  }
  std::string bytes() {
    MutexLock lock(mutex_);
    return bytes_;
  }
  std::vector<size_t> ends() {
    MutexLock lock(mutex_);
    return ends_;
  }
  int calls() {
    MutexLock lock(mutex_);
    return calls_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::string bytes_;
  std::vector<size_t> ends_;
  int calls_ = 0, signals_ = 0;
  bool held_ = false;
};

// Frame number `frame` of the picture.
inline absl::Status PushFrame(VideoEncoder& encoder, const model::TestPicture& picture, int width,
                              int height, int frame) {
  std::vector<std::byte> bytes;
  model::AppendFrame(picture.Draw(frame), width, model::FrameFormat::kI420, bytes);
  return encoder.Push({model::FrameFormat::kI420, width, height, 1, bytes});
}

}  // namespace reel::worker
