// SPDX-License-Identifier: Apache-2.0
#include "client/frames/png.h"

#include <algorithm>
#include <cstddef>

#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"

namespace reel::client {
namespace {

absl::StatusOr<worker::AvCodecContextPtr> OpenPng(int width, int height) {
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_PNG);
  if (codec == nullptr) return absl::InternalError("This build of libav has no PNG encoder");
  worker::AvCodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context) return absl::InternalError("Out of memory for a PNG");
  context->width = width;
  context->height = height;
  context->pix_fmt = AV_PIX_FMT_RGB24;
  context->time_base = {1, 1};
  context->thread_count = 1;
  context->flags |= AV_CODEC_FLAG_BITEXACT;
  REEL_RETURN_IF_ERROR(
      worker::AvStatus(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2"));
  return context;
}

}  // namespace

absl::StatusOr<std::string> EncodePng(const model::RgbImage& image) {
  REEL_ASSIGN_OR_RETURN(const auto context, OpenPng(image.width, image.height));
  const worker::AvFramePtr frame(av_frame_alloc());
  const worker::AvPacketPtr packet(av_packet_alloc());
  if (!frame || !packet) return absl::InternalError("Out of memory for a PNG");
  frame->format = AV_PIX_FMT_RGB24;
  frame->width = image.width;
  frame->height = image.height;
  REEL_RETURN_IF_ERROR(
      worker::AvStatus(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer"));
  const ptrdiff_t row_bytes = ptrdiff_t{image.width} * 3;
  for (int y = 0; y < image.height; ++y) {
    std::copy_n(image.pixels.data() + y * row_bytes, row_bytes,
                frame->data[0] + ptrdiff_t{y} * frame->linesize[0]);
  }
  REEL_RETURN_IF_ERROR(
      worker::AvStatus(avcodec_send_frame(context.get(), frame.get()), "avcodec_send_frame"));
  REEL_RETURN_IF_ERROR(worker::AvStatus(avcodec_receive_packet(context.get(), packet.get()),
                                        "avcodec_receive_packet"));
  return std::string(reinterpret_cast<const char*>(packet->data),
                     static_cast<size_t>(packet->size));
}

}  // namespace reel::client
