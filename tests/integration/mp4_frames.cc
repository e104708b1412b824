// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/mp4_frames.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstring>
#include <memory>

namespace reel::tests {
namespace {

struct Source {
  const std::string& bytes;
  size_t position = 0;
};

int ReadSource(void* opaque, uint8_t* out, int size) {
  auto* source = static_cast<Source*>(opaque);
  const size_t left = source->bytes.size() - source->position;
  if (left == 0) return AVERROR_EOF;
  const size_t count = std::min(left, static_cast<size_t>(size));
  std::memcpy(out, source->bytes.data() + source->position, count);
  source->position += count;
  return static_cast<int>(count);
}

struct CloseInput {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
};
struct FreeCodec {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreeIo {
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
};

LumaFrame CopyLuma(const AVFrame& frame) {
  LumaFrame copy{frame.width, frame.height, {}};
  for (int y = 0; y < frame.height; ++y) {
    const uint8_t* row = frame.data[0] + static_cast<ptrdiff_t>(y) * frame.linesize[0];
    copy.luma.insert(copy.luma.end(), row, row + frame.width);
  }
  return copy;
}

// Feeds one packet (null: the end) and takes what comes out.
bool Decode(AVCodecContext& codec, const AVPacket* packet, AVFrame& frame,
            std::vector<LumaFrame>& frames) {
  if (avcodec_send_packet(&codec, packet) < 0) return false;
  int rc = 0;
  while ((rc = avcodec_receive_frame(&codec, &frame)) == 0) frames.push_back(CopyLuma(frame));
  return rc == AVERROR(EAGAIN) || rc == AVERROR_EOF;
}

}  // namespace

absl::StatusOr<std::vector<LumaFrame>> DecodeMp4(const std::string& file) {
  Source source{file};
  constexpr int kBufferBytes = 1 << 16;
  const std::unique_ptr<AVIOContext, FreeIo> io(
      avio_alloc_context(static_cast<unsigned char*>(av_malloc(kBufferBytes)), kBufferBytes, 0,
                         &source, ReadSource, nullptr, nullptr));
  AVFormatContext* raw = avformat_alloc_context();
  raw->pb = io.get();
  if (avformat_open_input(&raw, nullptr, nullptr, nullptr) != 0) {
    return absl::DataLossError("not an MP4");
  }
  const std::unique_ptr<AVFormatContext, CloseInput> format(raw);
  if (format->nb_streams != 1) return absl::DataLossError("not one stream");
  const AVCodecParameters& parameters = *format->streams[0]->codecpar;
  const std::unique_ptr<AVCodecContext, FreeCodec> codec(
      avcodec_alloc_context3(avcodec_find_decoder(parameters.codec_id)));
  codec->thread_count = 1;
  codec->err_recognition = AV_EF_EXPLODE;
  if (avcodec_parameters_to_context(codec.get(), &parameters) < 0 ||
      avcodec_open2(codec.get(), nullptr, nullptr) < 0) {
    return absl::DataLossError("no decoder takes it");
  }
  const std::unique_ptr<AVPacket, FreePacket> packet(av_packet_alloc());
  const std::unique_ptr<AVFrame, FreeFrame> frame(av_frame_alloc());
  std::vector<LumaFrame> frames;
  while (av_read_frame(format.get(), packet.get()) == 0) {
    const bool good = Decode(*codec, packet.get(), *frame, frames);
    av_packet_unref(packet.get());
    if (!good) return absl::DataLossError("a packet does not decode");
  }
  if (!Decode(*codec, nullptr, *frame, frames))
    return absl::DataLossError("the end does not decode");
  return frames;
}

}  // namespace reel::tests
