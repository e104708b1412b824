// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/h264_encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kernels/base/status_macros.h"

extern "C" {
#include <libavutil/imgutils.h>
}

namespace reel::worker {
namespace {

constexpr int kMaxRate = 100'000;  // largest term of a frame rate's fraction
constexpr int kNoGopLimit = 1'000'000;
// One thread a slice. The file depends on their number, so only the size decides it. More for a
// small picture would cost bits (4 % at 256 rows), fewer for a large one would delay its last
// group.
int SlicesOf(int height) { return std::clamp(height / 128, 2, 4); }

void Configure(AVCodecContext& context, const VideoFormat& format) {
  context.width = format.width;
  context.height = format.height;
  context.pix_fmt = AV_PIX_FMT_YUV420P;
  context.framerate = av_d2q(format.frame_rate, kMaxRate);
  context.time_base = av_inv_q(context.framerate);
  context.color_primaries = AVCOL_PRI_BT709;
  context.color_trc = AVCOL_TRC_BT709;
  context.colorspace = AVCOL_SPC_BT709;
  context.color_range = AVCOL_RANGE_MPEG;
  context.chroma_sample_location = AVCHROMA_LOC_LEFT;
  context.max_b_frames = 0;
  context.gop_size = kNoGopLimit;  // the caller marks key frames
  context.thread_count = SlicesOf(format.height);
  context.thread_type = FF_THREAD_SLICE;
  // Parameter sets go into the file's head, not before every key frame.
  context.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT | AV_CODEC_FLAG_CLOSED_GOP;
  context.log_level_offset = kSilence;
}

void CopyPlane(const std::byte*& from, uint8_t* to, int stride, size_t width, size_t height) {
  for (size_t y = 0; y < height; ++y) {
    std::memcpy(to + y * static_cast<size_t>(stride), from, width);
    from += width;
  }
}

// Without it a fragment's last frame would have no duration.
auto WithDuration(CodecEncoder::PacketSink sink) {
  return [sink](AVPacket& packet) {
    packet.duration = 1;
    return sink(packet);
  };
}

}  // namespace

absl::StatusOr<H264Encoder> H264Encoder::Open(const VideoFormat& format) {
  const AVCodec* codec = avcodec_find_encoder_by_name("libx264");
  if (codec == nullptr) return absl::InternalError("This build of libav has no libx264");
  if (format.width <= 0 || format.height <= 0 || format.width % 2 != 0 || format.height % 2 != 0) {
    return absl::InternalError(
        absl::StrCat("H.264 in 4:2:0 takes even sizes only: ", format.width, "x", format.height));
  }
  REEL_ASSIGN_OR_RETURN(CodecEncoder encoder, CodecEncoder::Allocate(codec));
  AVCodecContext& context = encoder.context();
  AVFrame& frame = encoder.frame();
  Configure(context, format);
  AvOptions options;
  options.Set("preset", format.preset.c_str());
  options.Set("tune", "zerolatency");
  options.Set("crf", std::to_string(format.crf).c_str());
  options.Set("forced-idr", "1");
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_open2(&context, codec, options.get()), "avcodec_open2"));
  if (options.unused() != nullptr) {
    return absl::InternalError(absl::StrCat("libx264 does not know the option ", options.unused()));
  }
  frame.format = context.pix_fmt;
  frame.width = format.width;
  frame.height = format.height;
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_get_buffer(&frame, 0), "av_frame_get_buffer"));
  return H264Encoder(std::move(encoder));
}

absl::Status H264Encoder::Encode(absl::Span<const std::byte> i420, bool keyframe, PacketSink sink) {
  const auto width = static_cast<size_t>(context().width);
  const auto height = static_cast<size_t>(context().height);
  if (i420.size() != width * height * 3 / 2) {
    return absl::InternalError(absl::StrCat("A frame has the wrong size: ", i420.size(), " bytes"));
  }
  AVFrame& frame = encoder_.frame();
  // x264 may still hold the picture: then write into another buffer.
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_make_writable(&frame), "av_frame_make_writable"));
  const std::byte* from = i420.data();
  CopyPlane(from, frame.data[0], frame.linesize[0], width, height);
  CopyPlane(from, frame.data[1], frame.linesize[1], width / 2, height / 2);
  CopyPlane(from, frame.data[2], frame.linesize[2], width / 2, height / 2);
  frame.pts = next_pts_++;
  frame.pict_type = keyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  return encoder_.Send(WithDuration(sink));
}

absl::Status H264Encoder::Flush(PacketSink sink) { return encoder_.Flush(WithDuration(sink)); }

std::string H264Encoder::CodecString() const {
  // The parameter sets are in Annex B form: profile, constraints and level follow a start code and
  // the byte 0x67 (or 0x27).
  const uint8_t* data = context().extradata;
  for (int i = 0; data != nullptr && i + 6 < context().extradata_size; ++i) {
    if (data[i] != 0 || data[i + 1] != 0 || data[i + 2] != 1 || (data[i + 3] & 0x1F) != 7) continue;
    return absl::StrFormat("avc1.%02x%02x%02x", data[i + 4], data[i + 5], data[i + 6]);
  }
  return "avc1";
}

}  // namespace reel::worker
