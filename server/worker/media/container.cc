// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/container.h"

namespace reel::worker {
namespace {

constexpr unsigned kMaxTracks = 16;

int RefuseToOpen(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

}  // namespace

absl::StatusOr<ContainerPtr> OpenContainer(AVIOContext* io, const char* demuxer) {
  AVFormatContext* format = avformat_alloc_context();
  if (format == nullptr) return absl::InternalError("Out of memory for a media file");
  format->pb = io;
  format->flags |= AVFMT_FLAG_CUSTOM_IO;
  format->io_open = &RefuseToOpen;  // references to other files are not followed
  format->max_streams = static_cast<int>(kMaxTracks);
  // Frees `format` if it fails.
  if (avformat_open_input(&format, nullptr, av_find_input_format(demuxer), nullptr) < 0) {
    return absl::InvalidArgumentError("its head cannot be read");
  }
  return ContainerPtr(format);
}

AVStream* ChooseTrack(AVFormatContext& container, AVMediaType kind) {
  AVStream* chosen = nullptr;
  for (unsigned i = 0; i < container.nb_streams; ++i) {
    AVStream* const stream = container.streams[i];
    const bool is_wanted = stream->codecpar->codec_type == kind &&
                           (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0;
    if (is_wanted && chosen == nullptr) {
      chosen = stream;
    } else {
      stream->discard = AVDISCARD_ALL;
    }
  }
  return chosen;
}

absl::StatusOr<AvCodecContextPtr> OpenTrackDecoder(const AVCodec& codec,
                                                   const AVCodecParameters& track, PixelCap* cap,
                                                   int threads) {
  AvCodecContextPtr context(avcodec_alloc_context3(&codec));
  if (!context) return absl::InternalError("Out of memory for a decoder");
  const absl::Status broken = absl::InvalidArgumentError("is broken");
  if (avcodec_parameters_to_context(context.get(), &track) < 0) return broken;
  context->thread_count = (codec.capabilities & AV_CODEC_CAP_FRAME_THREADS) != 0 ? threads : 1;
  context->thread_type = FF_THREAD_FRAME;
  if (cap != nullptr) cap->SetOn(*context);
  context->flags |= AV_CODEC_FLAG_BITEXACT;
  context->log_level_offset = kSilence;
  if (avcodec_open2(context.get(), &codec, nullptr) < 0) return broken;
  return context;
}

}  // namespace reel::worker
