// SPDX-License-Identifier: Apache-2.0
// Packets to fragmented MP4: a head (ftyp, moov), then fragments that are cut where the caller
// says. The file plays up to the end of every fragment.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// Not thread-safe. Errors are INTERNAL.
class FragmentWriter {
 public:
  // A track for each of `codecs`. With one the head is written here, with several by the first Cut,
  // when it is known where each begins; the first of them is the pictures'.
  static absl::StatusOr<std::unique_ptr<FragmentWriter>> Open(
      absl::Span<const AVCodecContext* const> codecs);
  FragmentWriter(const FragmentWriter&) = delete;
  FragmentWriter& operator=(const FragmentWriter&) = delete;

  // `packet` has times in the time base of the track's codec, and a duration.
  absl::Status Write(AVPacket& packet, int track = 0);
  // Ends the fragment.
  absl::Status Cut();
  // What has been written since the last call.
  std::string TakeBytes();

 private:
  FragmentWriter() = default;
  // The bytes are const from FFmpeg 7 on.
  template <typename Byte>
  static int OnWrite(void* self, Byte* data, int size);
  absl::Status AddTrack(const AVCodecContext& codec);
  absl::Status WriteHead();

  std::string bytes_;
  AvioContextPtr io_;  // outlives format_
  AvFormatContextPtr format_;
  std::vector<AVRational> time_bases_;  // of the tracks' codecs
  bool head_comes_ = false;             // by the next Cut
};

}  // namespace reel::worker
