// SPDX-License-Identifier: Apache-2.0
// Writes packets as fragmented MP4: a head (ftyp, moov), then fragments that end where the caller
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
  // One track for each of `codecs`, the pictures' first. With one track the head is written here,
  // with several by the first Cut, when it is known where each begins. `boxes`: whole boxes that
  // follow the head; may be empty.
  static absl::StatusOr<std::unique_ptr<FragmentWriter>> Open(
      absl::Span<const AVCodecContext* const> codecs, std::string boxes);
  FragmentWriter(const FragmentWriter&) = delete;
  FragmentWriter& operator=(const FragmentWriter&) = delete;

  // `packet` has times in the time base of the track's codec, and a duration.
  absl::Status Write(AVPacket& packet, int track = 0);
  // Ends the fragment.
  absl::Status Cut();
  // The bytes written since the last call.
  std::string TakeBytes();

 private:
  FragmentWriter() = default;
  // FFmpeg 7 made the bytes const.
  template <typename Byte>
  static int OnWrite(void* self, Byte* data, int size);
  absl::Status AddTrack(const AVCodecContext& codec);
  absl::Status WriteHead();
  // Offsets in a fragment begin with it, so that boxes may stand before it.
  void AppendBoxes();

  std::string bytes_;
  AvioContextPtr io_;  // outlives format_
  AvFormatContextPtr format_;
  std::vector<AVRational> time_bases_;  // time bases of the tracks' codecs
  bool head_comes_ = false;             // the next Cut writes the head
  std::string boxes_;                   // until the head is written
};

}  // namespace reel::worker
