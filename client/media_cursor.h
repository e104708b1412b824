// SPDX-License-Identifier: Apache-2.0
// Tracks how much of a file was received, and whether a chunk continues it. Shared by both kinds of
// stream; free of gRPC.
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
    kOld,         // received before, or from an earlier attempt
    kNewAttempt,  // from a later attempt: call Restart(), then judge again
    kGap,         // bytes before it are missing
    kCorrupt,     // its checksum is wrong
  };

  // Continues a file at `offset` of `attempt` (0: any).
  void Start(int64_t offset, int attempt);
  // The file starts again.
  void Restart(int attempt);
  // Judges a chunk and counts it if it is kNew; a part received before is cut off.
  Verdict Take(v1::MediaChunk& chunk);

  int64_t offset() const { return offset_; }
  int attempt() const { return attempt_; }

  // Whether the file is complete. UNAVAILABLE: bytes are missing; DATA_LOSS: it is too long, or its
  // hash differs. A resumed file is checked by size only.
  absl::Status CheckComplete(const v1::MediaInfo& media);

 private:
  int64_t offset_ = 0;
  int attempt_ = 0;
  bool whole_ = true;  // hashed from its first byte
  Sha256 sha256_;
};

}  // namespace reel::client
