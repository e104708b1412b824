// SPDX-License-Identifier: Apache-2.0
// Packets to fragmented MP4: a head (ftyp, moov), then fragments that are cut where the caller
// says. The file plays up to the end of every fragment.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// Not thread-safe. Errors are INTERNAL.
class FragmentWriter {
 public:
  // Writes the head.
  static absl::StatusOr<std::unique_ptr<FragmentWriter>> Open(const AVCodecContext& codec);
  FragmentWriter(const FragmentWriter&) = delete;
  FragmentWriter& operator=(const FragmentWriter&) = delete;

  // `packet` has times in the codec's time base and a duration.
  absl::Status Write(AVPacket& packet);
  // Ends the fragment.
  absl::Status Cut();
  // What has been written since the last call.
  std::string TakeBytes();

 private:
  FragmentWriter() = default;
  // The bytes are const from FFmpeg 7 on.
  template <typename Byte>
  static int OnWrite(void* self, Byte* data, int size);
  absl::Status WriteHead(const AVCodecContext& codec);

  std::string bytes_;
  AvioContextPtr io_;  // outlives format_
  AvFormatContextPtr format_;
  AVRational codec_time_base_ = {0, 1};
};

}  // namespace reel::worker
