// SPDX-License-Identifier: Apache-2.0
// Tracks how much of a file has been received, and whether a chunk continues it. Shared by both
// kinds of stream; free of gRPC.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kernels/base/digest/sha256.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// Confined to one thread.
class MediaCursor {
 public:
  enum class Verdict {
    kNew,         // continues the file; the chunk now begins at the old offset()
    kOld,         // received before, or of an earlier attempt
    kNewAttempt,  // of a later attempt: Restart(), then ask again
    kGap,         // bytes before it are missing
    kCorrupt,     // its checksum is wrong
  };

  // Continues a file at `offset` of `attempt` (0: any).
  void Start(int64_t offset, int attempt);
  // The file begins again.
  void Restart(int attempt);
  // Judges and, if it is kNew, counts the chunk; a part received before is cut off it.
  Verdict Take(v1::MediaChunk& chunk);

  int64_t offset() const { return offset_; }
  int attempt() const { return attempt_; }

  // Whether this is the whole file. UNAVAILABLE: bytes are missing; DATA_LOSS: it is longer, or its
  // hash differs. A file that was resumed is checked by size only.
  absl::Status CheckComplete(const v1::MediaInfo& media);

 private:
  int64_t offset_ = 0;
  int attempt_ = 0;
  bool whole_ = true;  // hashed from its first byte
  Sha256 sha256_;
};

}  // namespace reel::client
