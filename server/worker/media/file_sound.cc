// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/file_sound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/container.h"
#include "server/worker/media/memory_input.h"

namespace reel::worker {
namespace {

absl::Status NoSound(const char* why) { return absl::FailedPreconditionError(why); }

absl::StatusOr<AvCodecContextPtr> OpenAac(const AVStream& track) {
  const AVCodec* codec = avcodec_find_decoder_by_name("aac");
  if (codec == nullptr) return absl::InternalError("This build of libav has no AAC decoder");
  absl::StatusOr<AvCodecContextPtr> context = OpenTrackDecoder(*codec, *track.codecpar);
  if (absl::IsInvalidArgument(context.status())) {
    return NoSound("the file's sound cannot be decoded");
  }
  if (context.ok()) (*context)->pkt_timebase = track.time_base;
  return context;
}

// What the edit list hides comes before time 0.
void AddSamples(const AVFrame& frame, std::vector<float>& samples) {
  const auto first = static_cast<int>(std::clamp<int64_t>(-frame.pts, 0, frame.nb_samples));
  for (int i = first; i < frame.nb_samples; ++i) {
    for (int channel = 0; channel < frame.ch_layout.nb_channels; ++channel) {
      samples.push_back(reinterpret_cast<const float*>(frame.extended_data[channel])[i]);
    }
  }
}

// Null: the end.
absl::Status DecodePacket(AVCodecContext& decoder, const AVPacket* packet, AVFrame& frame,
                          std::vector<float>& samples) {
  int code = avcodec_send_packet(&decoder, packet);
  while (code >= 0) {
    code = avcodec_receive_frame(&decoder, &frame);
    if (code >= 0) AddSamples(frame, samples);
  }
  const bool good = code == AVERROR(EAGAIN) || code == AVERROR_EOF;
  return good ? absl::OkStatus() : NoSound("the file's sound is damaged");
}

}  // namespace

absl::StatusOr<std::vector<float>> DecodeFileSound(std::string_view file,
                                                   const model::SoundFormat& format) {
  REEL_ASSIGN_OR_RETURN(const auto input, MemoryInput::Open(file));
  const absl::StatusOr<ContainerPtr> opened = OpenContainer(input->io(), "mov");
  if (absl::IsInvalidArgument(opened.status())) return NoSound("the file's head is damaged");
  REEL_RETURN_IF_ERROR(opened.status());
  const AVStream* const track = ChooseTrack(**opened, AVMEDIA_TYPE_AUDIO);
  if (track == nullptr || track->codecpar->codec_id != AV_CODEC_ID_AAC ||
      track->codecpar->sample_rate != format.sample_rate ||
      track->codecpar->ch_layout.nb_channels != format.channels) {
    return NoSound("the file's sound is of another format");
  }
  REEL_ASSIGN_OR_RETURN(const AvCodecContextPtr decoder, OpenAac(*track));
  const AvPacketPtr packet(av_packet_alloc());
  const AvFramePtr frame(av_frame_alloc());
  if (!packet || !frame) return absl::InternalError("Out of memory for sound");
  std::vector<float> samples;
  int code = 0;
  while ((code = av_read_frame(opened->get(), packet.get())) >= 0) {
    const absl::Status decoded = packet->stream_index == track->index
                                     ? DecodePacket(*decoder, packet.get(), *frame, samples)
                                     : absl::OkStatus();
    av_packet_unref(packet.get());
    REEL_RETURN_IF_ERROR(decoded);
  }
  if (code != AVERROR_EOF) return NoSound("the file is damaged");
  REEL_RETURN_IF_ERROR(DecodePacket(*decoder, nullptr, *frame, samples));
  return samples;
}

}  // namespace reel::worker
