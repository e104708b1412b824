// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/clip_decoder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/container.h"
#include "server/worker/media/frame_colors.h"
#include "server/worker/media/memory_input.h"
#include "server/worker/media/orientation.h"
#include "server/worker/media/pixel_cap.h"

extern "C" {
#include <libavutil/display.h>
}

namespace reel::worker {
namespace {

// Converts as the ffmpeg command does, with which the reference reads clips.
constexpr int kScalerFlags = SWS_BICUBIC;

// Bounded, since each thread holds pictures of up to `max_pixels`.
int DecoderThreads() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

absl::Status Bad(const char* what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<ContainerPtr> OpenMp4(AVIOContext* io) {
  auto opened = OpenContainer(io, "mov");
  if (absl::IsInvalidArgument(opened.status())) return Bad("is not an MP4 clip, or is damaged");
  return opened;
}

// The name of the decoder allowed for a track; null if there is none.
const char* DecoderFor(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_H264:
      return "h264";
    case AV_CODEC_ID_HEVC:
      return "hevc";
    case AV_CODEC_ID_VP9:
      return "vp9";
    case AV_CODEC_ID_AV1:
      return "libdav1d";
    case AV_CODEC_ID_MPEG4:
      return "mpeg4";
    default:
      return nullptr;
  }
}

absl::StatusOr<AvCodecContextPtr> OpenClipDecoder(const AVCodecParameters& track, PixelCap& cap) {
  const char* const name = DecoderFor(track.codec_id);
  const AVCodec* codec = name == nullptr ? nullptr : avcodec_find_decoder_by_name(name);
  if (codec == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("is coded as ", avcodec_get_name(track.codec_id),
                     "; use H.264 (H.265, VP9, AV1 and MPEG-4 are read too)"));
  }
  return OpenTrackDecoder(*codec, track, &cap, DecoderThreads());
}

// The matrix of a track's header. FFmpeg 6.1 moved it from the stream to its codec's parameters,
// and 7 removed the old place.
absl::Span<const uint8_t> DisplayMatrix(const AVStream& stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
  const AVCodecParameters& track = *stream.codecpar;
  const AVPacketSideData* found = av_packet_side_data_get(
      track.coded_side_data, track.nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return found == nullptr ? absl::Span<const uint8_t>()
                          : absl::MakeConstSpan(found->data, found->size);
#else
  size_t size = 0;
  const uint8_t* found = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return absl::MakeConstSpan(found, found == nullptr ? 0 : size);
#endif
}

int OrientationOf(const AVStream& stream) {
  const absl::Span<const uint8_t> matrix = DisplayMatrix(stream);
  if (matrix.size() < 9 * sizeof(int32_t)) return kUpright;
  return MatrixOrientation({reinterpret_cast<const int32_t*>(matrix.data()), 9});
}

// A clip that is being read.
class ClipReader {
 public:
  ClipReader(ContainerPtr format, AVStream* track, AvCodecContextPtr decoder, const PixelCap& cap)
      : format_(std::move(format)), track_(track), decoder_(std::move(decoder)), cap_(cap) {}

  absl::Status Read(absl::FunctionRef<absl::Status()> proceed,
                    absl::FunctionRef<bool(ClipPicture)> take) {
    packet_.reset(av_packet_alloc());
    frame_.reset(av_frame_alloc());
    if (!packet_ || !frame_) return absl::InternalError("Out of memory for a clip");
    for (bool ended = false; !ended;) {
      REEL_RETURN_IF_ERROR(proceed());
      const int code = av_read_frame(format_.get(), packet_.get());
      ended = code == AVERROR_EOF;
      if (code < 0 && !ended) return Bad("is broken");
      if (!ended && packet_->stream_index != track_->index) {
        av_packet_unref(packet_.get());
        continue;
      }
      const int sent = avcodec_send_packet(decoder_.get(), ended ? nullptr : packet_.get());
      av_packet_unref(packet_.get());
      if (sent < 0) return Undecodable();
      REEL_ASSIGN_OR_RETURN(const bool more, TakeDecoded(proceed, take));
      if (!more) return absl::OkStatus();
    }
    return pictures_ > 0 ? absl::OkStatus() : Bad("contains no frames");
  }

 private:
  absl::Status Undecodable() const {
    if (const auto refusal = cap_.refusal()) return absl::InvalidArgumentError(*refusal);
    return Bad("is broken");
  }

  // False: no more pictures are wanted.
  absl::StatusOr<bool> TakeDecoded(absl::FunctionRef<absl::Status()> proceed,
                                   absl::FunctionRef<bool(ClipPicture)> take) {
    for (;;) {
      const int code = avcodec_receive_frame(decoder_.get(), frame_.get());
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return true;
      if (code < 0) return Undecodable();
      if ((frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame_->decode_error_flags != 0) {
        return Bad("is damaged: one of its frames cannot be decoded");
      }
      REEL_RETURN_IF_ERROR(proceed());
      REEL_ASSIGN_OR_RETURN(model::RgbImage image, RgbOfFrame(*frame_, kScalerFlags, scaler_));
      ClipPicture picture = Timed();
      picture.image = Uprighted(std::move(image), OrientationOf(*track_));
      ++pictures_;
      if (!take(std::move(picture))) return false;
    }
  }

  // When the frame is shown: never before the one in front of it, whatever the file says.
  ClipPicture Timed() {
    const double each = track_->avg_frame_rate.num > 0 ? 1 / av_q2d(track_->avg_frame_rate) : 0;
    double at = last_ + (pictures_ > 0 ? each : 0);
    if (frame_->best_effort_timestamp != AV_NOPTS_VALUE) {
      at = static_cast<double>(frame_->best_effort_timestamp) * av_q2d(track_->time_base);
    }
    if (pictures_ == 0) first_ = at;
    last_ = pictures_ == 0 ? at : std::max(at, last_);
    return {.image = {}, .begin = last_ - first_, .end = last_ - first_ + each};
  }

  const ContainerPtr format_;
  AVStream* const track_;  // owned by `format_`
  const AvCodecContextPtr decoder_;
  const PixelCap& cap_;
  AvPacketPtr packet_;
  AvFramePtr frame_;
  SwsContextPtr scaler_;
  int pictures_ = 0;
  double first_ = 0, last_ = 0;  // seconds
};

}  // namespace

absl::Status DecodeClip(const std::string& bytes, int64_t max_pixels,
                        absl::FunctionRef<absl::Status()> proceed,
                        absl::FunctionRef<bool(ClipPicture)> take) {
  REEL_ASSIGN_OR_RETURN(const auto input, MemoryInput::Open(bytes));
  REEL_ASSIGN_OR_RETURN(ContainerPtr format, OpenMp4(input->io()));
  AVStream* const track = ChooseTrack(*format, AVMEDIA_TYPE_VIDEO);
  if (track == nullptr) return Bad("contains no video");
  PixelCap cap(max_pixels);
  REEL_ASSIGN_OR_RETURN(AvCodecContextPtr decoder, OpenClipDecoder(*track->codecpar, cap));
  return ClipReader(std::move(format), track, std::move(decoder), cap).Read(proceed, take);
}

}  // namespace reel::worker
