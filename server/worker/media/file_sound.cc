// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/file_sound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/base/status_macros.h"
#include "server/worker/media/av_handles.h"
#include "server/worker/media/memory_input.h"

namespace reel::worker {
namespace {

struct SoundInputDeleter {
  void operator()(AVFormatContext* p) const { avformat_close_input(&p); }
};
using SoundInputPtr = std::unique_ptr<AVFormatContext, SoundInputDeleter>;

absl::Status NoSound(const char* why) { return absl::FailedPreconditionError(why); }

absl::StatusOr<SoundInputPtr> OpenFile(AVIOContext* io) {
  AVFormatContext* file = avformat_alloc_context();
  if (file == nullptr) return absl::InternalError("Out of memory for a file");
  file->pb = io;
  file->flags |= AVFMT_FLAG_CUSTOM_IO;
  // Frees `file` if it fails.
  if (avformat_open_input(&file, nullptr, av_find_input_format("mov"), nullptr) < 0) {
    return NoSound("the file's head is damaged");
  }
  return SoundInputPtr(file);
}

absl::StatusOr<AvCodecContextPtr> OpenAac(const AVStream& track) {
  const AVCodec* codec = avcodec_find_decoder_by_name("aac");
  if (codec == nullptr) return absl::InternalError("This build of libav has no AAC decoder");
  AvCodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context) return absl::InternalError("Out of memory for sound");
  context->thread_count = 1;
  context->flags |= AV_CODEC_FLAG_BITEXACT;
  context->log_level_offset = kSilence;
  if (avcodec_parameters_to_context(context.get(), track.codecpar) < 0 ||
      avcodec_open2(context.get(), codec, nullptr) < 0) {
    return NoSound("the file's sound cannot be decoded");
  }
  context->pkt_timebase = track.time_base;
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

const AVStream* SoundOf(const AVFormatContext& file) {
  for (unsigned i = 0; i < file.nb_streams; ++i) {
    const AVStream* const track = file.streams[i];
    if (track->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) return track;
    file.streams[i]->discard = AVDISCARD_ALL;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<float>> DecodeFileSound(std::string_view file,
                                                   const model::SoundFormat& format) {
  REEL_ASSIGN_OR_RETURN(const auto input, MemoryInput::Open(file));
  REEL_ASSIGN_OR_RETURN(const SoundInputPtr opened, OpenFile(input->io()));
  const AVStream* const track = SoundOf(*opened);
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
  while ((code = av_read_frame(opened.get(), packet.get())) >= 0) {
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
