// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/picture_compression.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/codec_encoder.h"
#include "server/worker/media/frame_colors.h"

namespace reel::worker {
namespace {

constexpr int kLeastSide = 2, kMostSide = 16384;  // of x264
constexpr int kScalerFlags = SWS_BILINEAR;        // for chroma, as the reference's library has it
constexpr char kPreset[] = "veryfast";

absl::Status OpenX264(const AVCodec* codec, int crf, AVCodecContext& context) {
  context.pix_fmt = AV_PIX_FMT_YUV420P;
  context.time_base = {1, 1};
  context.framerate = {1, 1};
  context.thread_count = 1;
  context.flags |= AV_CODEC_FLAG_BITEXACT;
  context.log_level_offset = kSilence;
  AvOptions options;
  options.Set("preset", kPreset);
  options.Set("crf", std::to_string(crf).c_str());
  return AvStatus(avcodec_open2(&context, codec, options.get()), "avcodec_open2");
}

// `frame` has the encoder's size, which may be a line smaller.
absl::Status Fill(const model::RgbImage& image, AVFrame& frame) {
  const SwsContextPtr scaler(sws_getContext(frame.width, frame.height, AV_PIX_FMT_RGB24,
                                            frame.width, frame.height, AV_PIX_FMT_YUV420P,
                                            kScalerFlags, nullptr, nullptr, nullptr));
  if (!scaler) return absl::InternalError("Out of memory for a picture");
  const uint8_t* const lines[] = {image.pixels.data()};
  const int stride[] = {image.width * 3};
  return AvStatus(
      sws_scale(scaler.get(), lines, stride, 0, frame.height, frame.data, frame.linesize),
      "sws_scale");
}

absl::StatusOr<AvCodecContextPtr> OpenDecoder() {
  const AVCodec* codec = avcodec_find_decoder_by_name("h264");
  AvCodecContextPtr context(codec == nullptr ? nullptr : avcodec_alloc_context3(codec));
  if (!context) return absl::InternalError("This build of libav cannot decode H.264");
  context->thread_count = 1;
  context->flags |= AV_CODEC_FLAG_BITEXACT;
  context->log_level_offset = kSilence;
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2"));
  return context;
}

}  // namespace

absl::StatusOr<model::RgbImage> Compressed(const model::RgbImage& image, int crf) {
  const int width = image.width / 2 * 2, height = image.height / 2 * 2;
  if (width < kLeastSide || height < kLeastSide || width > kMostSide || height > kMostSide) {
    return absl::InvalidArgumentError(
        absl::StrCat("is ", image.width, "x", image.height, " pixels; to be compressed, sides are ",
                     kLeastSide, " to ", kMostSide, " (condition_crf 0 leaves it as it is)"));
  }
  const AVCodec* codec = avcodec_find_encoder_by_name("libx264");
  if (codec == nullptr) return absl::InternalError("This build of libav has no libx264");
  REEL_ASSIGN_OR_RETURN(CodecEncoder encoder, CodecEncoder::Allocate(codec));
  encoder.context().width = width;
  encoder.context().height = height;
  REEL_RETURN_IF_ERROR(OpenX264(codec, crf, encoder.context()));
  AVFrame& frame = encoder.frame();
  frame.format = AV_PIX_FMT_YUV420P;
  frame.width = width;
  frame.height = height;
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_get_buffer(&frame, 0), "av_frame_get_buffer"));
  REEL_RETURN_IF_ERROR(Fill(image, frame));
  frame.pts = 0;
  REEL_ASSIGN_OR_RETURN(const AvCodecContextPtr decoder, OpenDecoder());
  const auto decode = [&](AVPacket& packet) {
    return AvStatus(avcodec_send_packet(decoder.get(), &packet), "avcodec_send_packet");
  };
  REEL_RETURN_IF_ERROR(encoder.Send(decode));
  REEL_RETURN_IF_ERROR(encoder.Flush(decode));
  REEL_RETURN_IF_ERROR(
      AvStatus(avcodec_send_packet(decoder.get(), nullptr), "avcodec_send_packet"));
  const AvFramePtr decoded(av_frame_alloc());
  if (!decoded) return absl::InternalError("Out of memory for a picture");
  REEL_RETURN_IF_ERROR(
      AvStatus(avcodec_receive_frame(decoder.get(), decoded.get()), "avcodec_receive_frame"));
  SwsContextPtr scaler;
  return RgbOfFrame(*decoded, kScalerFlags, scaler);
}

}  // namespace reel::worker
