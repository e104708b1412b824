// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/aac_encoder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

extern "C" {
#include <libavutil/channel_layout.h>
}

namespace reel::worker {
namespace {

constexpr int kBitsPerChannel = 64'000;

void SetChannels(AVCodecContext& context, int channels) {
  av_channel_layout_default(&context.ch_layout, channels);
}

}  // namespace

absl::StatusOr<AacEncoder> AacEncoder::Open(const model::SoundFormat& format) {
  const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_AAC);
  if (codec == nullptr) return absl::InternalError("This build of libav has no AAC encoder");
  if (format.channels < 1 || format.channels > 2) {
    return absl::InternalError(
        absl::StrCat("Sound has one or two channels, not ", format.channels));
  }
  REEL_ASSIGN_OR_RETURN(CodecEncoder encoder, CodecEncoder::Allocate(codec));
  AVCodecContext& context = encoder.context();
  AVFrame& frame = encoder.frame();
  context.sample_fmt = AV_SAMPLE_FMT_FLTP;
  context.sample_rate = format.sample_rate;
  context.time_base = {1, format.sample_rate};
  context.bit_rate = int64_t{kBitsPerChannel} * format.channels;
  context.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
  context.log_level_offset = kSilence;
  SetChannels(context, format.channels);
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_open2(&context, codec, nullptr), "avcodec_open2"));
  if (context.frame_size != kFrameSamples) {
    return absl::InternalError(absl::StrCat("AAC frames have ", context.frame_size, " samples"));
  }
  frame.format = context.sample_fmt;
  frame.sample_rate = format.sample_rate;
  frame.nb_samples = kFrameSamples;
  REEL_RETURN_IF_ERROR(AvStatus(av_channel_layout_copy(&frame.ch_layout, &context.ch_layout),
                                "av_channel_layout_copy"));
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_get_buffer(&frame, 0), "av_frame_get_buffer"));
  return AacEncoder(std::move(encoder));
}

absl::Status AacEncoder::Encode(absl::Span<const float> interleaved, PacketSink sink) {
  const auto channels = static_cast<size_t>(context().ch_layout.nb_channels);
  const size_t samples = interleaved.size() / channels;
  if (samples == 0 || samples > kFrameSamples || interleaved.size() % channels != 0) {
    return absl::InternalError(
        absl::StrCat("A piece of sound has the wrong size: ", interleaved.size(), " values"));
  }
  AVFrame& frame = encoder_.frame();
  REEL_RETURN_IF_ERROR(AvStatus(av_frame_make_writable(&frame), "av_frame_make_writable"));
  for (size_t channel = 0; channel < channels; ++channel) {
    auto* to = reinterpret_cast<float*>(frame.extended_data[channel]);
    for (size_t i = 0; i < samples; ++i) {
      to[i] = std::clamp(interleaved[i * channels + channel], -1.0F, 1.0F);
    }
  }
  frame.nb_samples = static_cast<int>(samples);
  frame.pts = next_pts_;
  next_pts_ += static_cast<int64_t>(samples);
  return encoder_.Send(sink);
}

}  // namespace reel::worker
