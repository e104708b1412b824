// SPDX-License-Identifier: Apache-2.0
// A libav encoder: its context, the frame to fill, and the packets that come out.
#pragma once

#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {

// Not thread-safe. Errors are INTERNAL.
class CodecEncoder {
 public:
  // The context is not open yet and still to be filled.
  static absl::StatusOr<CodecEncoder> Allocate(const AVCodec* codec);

  AVCodecContext& context() const { return *context_; }
  // The next frame: make it writable, fill it, send it.
  AVFrame& frame() const { return *frame_; }

  using PacketSink = absl::FunctionRef<absl::Status(AVPacket&)>;
  // Sends the frame; packets that are ready go to `sink`.
  absl::Status Send(PacketSink sink) { return Send(frame_.get(), sink); }
  // Flushes the remaining packets.
  absl::Status Flush(PacketSink sink) { return Send(nullptr, sink); }

 private:
  CodecEncoder(AvCodecContextPtr context, AvFramePtr frame, AvPacketPtr packet)
      : context_(std::move(context)), frame_(std::move(frame)), packet_(std::move(packet)) {}
  absl::Status Send(const AVFrame* frame, PacketSink sink);

  AvCodecContextPtr context_;
  AvFramePtr frame_;
  AvPacketPtr packet_;
};

}  // namespace reel::worker
