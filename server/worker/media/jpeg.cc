// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/jpeg.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"

namespace reel::worker {
namespace {

constexpr int kQuality = 4;  // of 2 (best) to 31
constexpr AVPixelFormat kPixelFormat = AV_PIX_FMT_YUV420P;

int Even(int64_t side) { return static_cast<int>(std::max<int64_t>(2, side / 2 * 2)); }

// RGB to BT.601 in full range, as JPEG requires.
absl::StatusOr<SwsContextPtr> OpenScaler(const model::RgbImage& image, int width, int height) {
  SwsContextPtr scaler(sws_getContext(image.width, image.height, AV_PIX_FMT_RGB24, width, height,
                                      kPixelFormat, SWS_AREA | SWS_BITEXACT, nullptr, nullptr,
                                      nullptr));
  if (!scaler) return absl::InternalError("Out of memory for a preview");
  const int* matrix = sws_getCoefficients(SWS_CS_ITU601);
  REEL_RETURN_IF_ERROR(
      AvStatus(sws_setColorspaceDetails(scaler.get(), matrix, 1, matrix, 1, 0, 1 << 16, 1 << 16),
               "sws_setColorspaceDetails"));
  return scaler;
}

absl::StatusOr<AvFramePtr> NewFrame(AVPixelFormat format, int width, int height) {
  AvFramePtr frame(av_frame_alloc());
  if (!frame) return absl::InternalError("Out of memory for a preview");
  frame->format = format;
  frame->width = width;
  frame->height = height;
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_get_buffer(frame.get(), 0), "av_frame_get_buffer"));
  return frame;
}

// swscale reads whole vectors past the last pixel: its source needs a frame's padding.
absl::StatusOr<AvFramePtr> Padded(const model::RgbImage& image) {
  REEL_ASSIGN_OR_RETURN(AvFramePtr frame, NewFrame(AV_PIX_FMT_RGB24, image.width, image.height));
  const ptrdiff_t row_bytes = ptrdiff_t{image.width} * 3;
  for (int y = 0; y < image.height; ++y) {
    std::copy_n(image.pixels.data() + y * row_bytes, row_bytes,
                frame->data[0] + ptrdiff_t{y} * frame->linesize[0]);
  }
  return frame;
}

absl::StatusOr<AvFramePtr> Scaled(const model::RgbImage& image, int width, int height) {
  REEL_ASSIGN_OR_RETURN(const SwsContextPtr scaler, OpenScaler(image, width, height));
  REEL_ASSIGN_OR_RETURN(const AvFramePtr source, Padded(image));
  REEL_ASSIGN_OR_RETURN(AvFramePtr frame, NewFrame(kPixelFormat, width, height));
  frame->color_range = AVCOL_RANGE_JPEG;
  REEL_RETURN_IF_ERROR(AvStatus(sws_scale(scaler.get(), source->data, source->linesize, 0,
                                          image.height, frame->data, frame->linesize),
                                "sws_scale"));
  return frame;
}

absl::StatusOr<AvCodecContextPtr> OpenEncoder(int width, int height) {
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
  if (codec == nullptr) return absl::InternalError("This build of libav has no JPEG encoder");
  AvCodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context) return absl::InternalError("Out of memory for a preview");
  context->width = width;
  context->height = height;
  context->pix_fmt = kPixelFormat;
  context->color_range = AVCOL_RANGE_JPEG;
  context->time_base = {1, 1};
  context->thread_count = 1;
  context->flags |= AV_CODEC_FLAG_BITEXACT | AV_CODEC_FLAG_QSCALE;
  context->global_quality = kQuality * FF_QP2LAMBDA;
  context->log_level_offset = kSilence;
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2"));
  return context;
}

}  // namespace

absl::StatusOr<JpegImage> EncodeJpeg(const model::RgbImage& image, int max_side) {
  const int longest = std::max(image.width, image.height);
  if (image.width < 1 || image.height < 1 || max_side < 2 ||
      image.pixels.size() !=
          size_t{3} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height)) {
    return absl::InternalError(
        absl::StrCat("No picture to encode: ", image.width, "x", image.height));
  }
  const int64_t side = std::min(longest, max_side);
  JpegImage jpeg{"", Even(image.width * side / longest), Even(image.height * side / longest)};
  REEL_ASSIGN_OR_RETURN(const AvFramePtr frame, Scaled(image, jpeg.width, jpeg.height));
  REEL_ASSIGN_OR_RETURN(const AvCodecContextPtr context, OpenEncoder(jpeg.width, jpeg.height));
  const AvPacketPtr packet(av_packet_alloc());
  if (!packet) return absl::InternalError("Out of memory for a preview");
  frame->quality = context->global_quality;
  REEL_RETURN_IF_ERROR(
      AvStatus(avcodec_send_frame(context.get(), frame.get()), "avcodec_send_frame"));
  REEL_RETURN_IF_ERROR(
      AvStatus(avcodec_receive_packet(context.get(), packet.get()), "avcodec_receive_packet"));
  jpeg.bytes.assign(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
  return jpeg;
}

}  // namespace reel::worker
