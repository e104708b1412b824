// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/codec_encoder.h"

#include "kernels/base/status_macros.h"

namespace reel::worker {

absl::StatusOr<CodecEncoder> CodecEncoder::Allocate(const AVCodec* codec) {
  AvCodecContextPtr context(avcodec_alloc_context3(codec));
  AvFramePtr frame(av_frame_alloc());
  AvPacketPtr packet(av_packet_alloc());
  if (!context || !frame || !packet) return absl::InternalError("Out of memory for an encoder");
  return CodecEncoder(std::move(context), std::move(frame), std::move(packet));
}

absl::Status CodecEncoder::Send(const AVFrame* frame, PacketSink sink) {
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_send_frame(context_.get(), frame), "avcodec_send_frame"));
  for (;;) {
    const int code = avcodec_receive_packet(context_.get(), packet_.get());
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return absl::OkStatus();
    REEL_RETURN_IF_ERROR(AvStatus(code, "avcodec_receive_packet"));
    const absl::Status status = sink(*packet_);
    av_packet_unref(packet_.get());
    REEL_RETURN_IF_ERROR(status);
  }
}

}  // namespace reel::worker
