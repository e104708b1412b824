// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/decoded_video.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace reel::testing {
namespace {

struct Free {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
};
template <typename T>
using Handle = std::unique_ptr<T, Free>;

// What libav says on the threads that decode; elsewhere (an encoder under test) it speaks as
// always.
thread_local std::string* complaints = nullptr;

void Record(void* context, int level, const char* format, va_list arguments) {
  if (complaints == nullptr) return av_log_default_callback(context, level, format, arguments);
  if (level > AV_LOG_WARNING) return;
  char line[512];
  if (std::vsnprintf(line, sizeof line, format, arguments) > 0) complaints->append(line);
}

// For as long as it lives this thread's complaints are kept.
class Ear {
 public:
  Ear() {
    static const bool listening = (av_log_set_callback(Record), true);
    (void)listening;
    complaints = &heard_;
  }
  ~Ear() { complaints = nullptr; }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;
  const std::string& heard() const { return heard_; }

 private:
  std::string heard_;
};

int ReadSome(void* opaque, uint8_t* out, int size) {
  auto& rest = *static_cast<std::string_view*>(opaque);
  const size_t count = std::min(rest.size(), static_cast<size_t>(size));
  if (count == 0) return AVERROR_EOF;
  std::memcpy(out, rest.data(), count);
  rest.remove_prefix(count);
  return static_cast<int>(count);
}

void Add(const AVFrame& frame, DecodedVideo& video) {
  video.width = frame.width;
  video.height = frame.height;
  std::vector<uint8_t>& luma = video.luma.emplace_back();
  for (int y = 0; y < frame.height; ++y) {
    const uint8_t* row = frame.data[0] + static_cast<ptrdiff_t>(y) * frame.linesize[0];
    luma.insert(luma.end(), row, row + frame.width);
  }
}

// Samples of AAC are planes of fp32. Those before 0, which the file's edit list hides, are left
// out.
void AddSound(const AVFrame& frame, DecodedVideo& video) {
  video.sample_rate = frame.sample_rate;
  video.channels = frame.ch_layout.nb_channels;
  const auto hidden = static_cast<int>(std::clamp<int64_t>(-frame.pts, 0, frame.nb_samples));
  for (int i = hidden; i < frame.nb_samples; ++i) {
    for (int channel = 0; channel < video.channels; ++channel) {
      video.sound.push_back(reinterpret_cast<const float*>(frame.extended_data[channel])[i]);
    }
  }
}

// Feeds one packet (null: the end) and takes what comes out.
bool Feed(AVCodecContext& codec, const AVPacket* packet, AVFrame& frame, DecodedVideo& video) {
  if (avcodec_send_packet(&codec, packet) < 0) return false;
  int rc = 0;
  while ((rc = avcodec_receive_frame(&codec, &frame)) == 0) {
    codec.codec_type == AVMEDIA_TYPE_VIDEO ? Add(frame, video) : AddSound(frame, video);
  }
  return rc == AVERROR(EAGAIN) || rc == AVERROR_EOF;
}

Handle<AVCodecContext> OpenDecoder(const AVCodecParameters& parameters) {
  Handle<AVCodecContext> codec(avcodec_alloc_context3(avcodec_find_decoder(parameters.codec_id)));
  codec->thread_count = 1;
  codec->err_recognition = AV_EF_EXPLODE;
  if (avcodec_parameters_to_context(codec.get(), &parameters) < 0 ||
      avcodec_open2(codec.get(), nullptr, nullptr) < 0) {
    return nullptr;
  }
  return codec;
}

// Pictures, and sound behind them. Where the file `may_be_cut`, what cannot be read is passed over.
bool DecodeAll(AVFormatContext& format, bool may_be_cut, DecodedVideo& video) {
  if (format.nb_streams < 1 || format.nb_streams > 2) return false;
  // An MP4 says in front what it holds; a picture has to be looked into.
  if (format.streams[0]->codecpar->width == 0) avformat_find_stream_info(&format, nullptr);
  std::vector<Handle<AVCodecContext>> codecs;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    codecs.push_back(OpenDecoder(*format.streams[i]->codecpar));
    if (codecs.back() == nullptr) return false;
    codecs.back()->pkt_timebase = format.streams[i]->time_base;
  }
  const Handle<AVPacket> packet(av_packet_alloc());
  const Handle<AVFrame> frame(av_frame_alloc());
  int rc = 0;
  while ((rc = av_read_frame(&format, packet.get())) == 0) {
    const bool good =
        Feed(*codecs[static_cast<size_t>(packet->stream_index)], packet.get(), *frame, video);
    av_packet_unref(packet.get());
    if (!good && !may_be_cut) return false;
  }
  if (rc != AVERROR_EOF && !may_be_cut) return false;
  for (const auto& codec : codecs) {
    if (!Feed(*codec, nullptr, *frame, video) && !may_be_cut) return false;
  }
  return !video.luma.empty();
}

// Whether all that is needed could be read.
bool Play(std::string_view file, bool may_be_cut, DecodedVideo& video) {
  constexpr int kBufferBytes = 1 << 16;
  const Handle<AVIOContext> io(
      avio_alloc_context(static_cast<unsigned char*>(av_malloc(kBufferBytes)), kBufferBytes, 0,
                         &file, ReadSome, nullptr, nullptr));
  AVFormatContext* opened = avformat_alloc_context();
  opened->pb = io.get();
  const bool known = avformat_open_input(&opened, nullptr, nullptr, nullptr) == 0;
  const Handle<AVFormatContext> format(opened);  // null where it is not known
  return known && DecodeAll(*format, may_be_cut, video);
}

}  // namespace

DecodedVideo DecodeStart(std::string_view file) {
  const Ear ear;
  DecodedVideo video;
  Play(file, true, video);
  return video;
}

absl::StatusOr<DecodedVideo> Decode(std::string_view file) {
  const Ear ear;
  DecodedVideo video;
  if (Play(file, false, video) && ear.heard().empty()) return video;
  return absl::DataLossError(
      absl::StrCat("The file does not play (frame ", video.luma.size(), "): ", ear.heard()));
}

}  // namespace reel::testing
