// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/picture_decoder.h"

#include <cstring>
#include <limits>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/frame_colors.h"
#include "server/worker/media/orientation.h"
#include "server/worker/media/picture_trimmer.h"
#include "server/worker/media/pixel_cap.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace reel::worker {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;
// Flags for rare JPEGs, whose colours swscale converts: interpolated, rounded well.
constexpr int kScalerFlags =
    SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;

// The formats that TrimPicture accepts.
const char* DecoderFor(std::string_view bytes) {
  const PictureFormat format = FormatOf(bytes);
  return format == PictureFormat::kPng ? "png" : format == PictureFormat::kJpeg ? "mjpeg" : "webp";
}

absl::StatusOr<AvCodecContextPtr> OpenDecoder(const char* name, PixelCap& cap) {
  const AVCodec* codec = avcodec_find_decoder_by_name(name);
  if (codec == nullptr) {
    return absl::InternalError(absl::StrCat("This build of libav has no decoder for ", name));
  }
  AvCodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context) return absl::InternalError("Out of memory for a picture");
  context->thread_count = 1;
  cap.SetOn(*context);
  context->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
  context->idct_algo = FF_IDCT_INT;  // libjpeg's own
  context->flags |= AV_CODEC_FLAG_BITEXACT;
  context->log_level_offset = kSilence;
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_open2(context.get(), codec, nullptr), "avcodec_open2"));
  return context;
}

absl::StatusOr<AvPacketPtr> PacketOf(const std::string& bytes) {
  AvPacketPtr packet(av_packet_alloc());
  // Adds the padding that libav reads past the end.
  if (!packet || av_new_packet(packet.get(), static_cast<int>(bytes.size())) < 0) {
    return absl::InternalError("Out of memory for a picture");
  }
  std::memcpy(packet->data, bytes.data(), bytes.size());
  return packet;
}

// libav treats the fourth component as transparency.
bool HasFourInks(const AVFrame& frame, std::string_view decoder) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  return decoder == "mjpeg" && format != nullptr && format->nb_components == 4;
}

absl::StatusOr<AvFramePtr> DecodeFrame(const std::string& bytes, const char* name,
                                       int64_t max_pixels) {
  PixelCap cap(max_pixels);
  REEL_ASSIGN_OR_RETURN(const AvCodecContextPtr context, OpenDecoder(name, cap));
  REEL_ASSIGN_OR_RETURN(const AvPacketPtr packet, PacketOf(bytes));
  AvFramePtr frame(av_frame_alloc());
  if (!frame) return absl::InternalError("Out of memory for a picture");
  int code = avcodec_send_packet(context.get(), packet.get());
  if (code >= 0) code = avcodec_send_packet(context.get(), nullptr);
  if (code >= 0) code = avcodec_receive_frame(context.get(), frame.get());
  if (code >= 0) return frame;
  if (cap.refusal()) return absl::InvalidArgumentError(*cap.refusal());
  return absl::InvalidArgumentError("is damaged or of an unsupported kind");
}

}  // namespace

absl::StatusOr<model::RgbImage> DecodePicture(const std::string& bytes, int64_t max_pixels) {
  if (bytes.size() > kMaxBytes) return absl::InvalidArgumentError("is larger than 1 GiB");
  REEL_ASSIGN_OR_RETURN(const std::string trimmed, TrimPicture(bytes, max_pixels));
  const char* const name = DecoderFor(trimmed);
  REEL_ASSIGN_OR_RETURN(const AvFramePtr frame, DecodeFrame(trimmed, name, max_pixels));
  if (HasFourInks(*frame, name)) {
    return absl::InvalidArgumentError("is a CMYK JPEG; save it as RGB");
  }
  absl::StatusOr<model::RgbImage> image = RgbOfPacked(*frame);
  if (absl::IsUnimplemented(image.status())) image = RgbOfJpeg(*frame);
  if (absl::IsUnimplemented(image.status())) image = RgbOfWebp(*frame);
  if (absl::IsUnimplemented(image.status())) {
    SwsContextPtr scaler;
    image = RgbOfFrame(*frame, kScalerFlags, scaler);
  }
  REEL_RETURN_IF_ERROR(image.status());
  return Uprighted(*std::move(image), ExifOrientation(bytes));
}

}  // namespace reel::worker
