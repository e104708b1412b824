// SPDX-License-Identifier: Apache-2.0
// The one video that a fake server has: its bytes, its events and what is known of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "reel/v1/video.pb.h"

namespace reel::fakes {

// Thread-safe.
class FakeVideo {
 public:
  FakeVideo(int64_t size, int64_t chunk_size);

  int64_t size() const { return size_; }
  int64_t chunk_size() const { return chunk_size_; }
  std::string name() const;
  int attempt() const;
  std::string media() const;  // of the current attempt

  void Replace();            // the job is lost, another one takes its place
  v1::VideoEvent Restart();  // the worker is lost: another attempt, other bytes
  // Known once it is finished.
  void Notice(const std::string& code, const std::string& message);
  void SetStats(const v1::RunStats& stats);

  v1::Video InState(v1::VideoState state) const;
  v1::Video Finished(bool wrong_hash) const;
  v1::MediaInfo Info(bool wrong_hash) const;
  v1::VideoEvent Accepted() const;
  v1::VideoEvent Ended(bool wrong_hash) const;
  // The next chunk from `offset`, up to `end` at most.
  v1::MediaChunk Chunk(int64_t offset, int64_t end, bool corrupt) const;

 private:
  const int64_t size_, chunk_size_;
  mutable std::mutex mutex_;
  std::string media_;
  v1::Notice notice_;  // without a code: none
  v1::RunStats stats_;
  int job_ = 1;
  int attempt_ = 1;
};

}  // namespace reel::fakes
