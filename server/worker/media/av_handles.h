// SPDX-License-Identifier: Apache-2.0
// Owners of libav's handles, and its error numbers as statuses.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/status.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>
}

namespace reel::worker {

struct AvDeleter {
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
  void operator()(AVFrame* p) const { av_frame_free(&p); }
  void operator()(AVPacket* p) const { av_packet_free(&p); }
  void operator()(SwsContext* p) const { sws_freeContext(p); }
  // An output's context; its AVIOContext is owned separately.
  void operator()(AVFormatContext* p) const { avformat_free_context(p); }
  // Frees the buffer too, which libav may have replaced.
  void operator()(AVIOContext* p) const {
    av_freep(&p->buffer);
    avio_context_free(&p);
  }
};

using AvCodecContextPtr = std::unique_ptr<AVCodecContext, AvDeleter>;
using AvFramePtr = std::unique_ptr<AVFrame, AvDeleter>;
using AvPacketPtr = std::unique_ptr<AVPacket, AvDeleter>;
using AvFormatContextPtr = std::unique_ptr<AVFormatContext, AvDeleter>;
using AvioContextPtr = std::unique_ptr<AVIOContext, AvDeleter>;
using SwsContextPtr = std::unique_ptr<SwsContext, AvDeleter>;

// Options by name; those left after an open were not understood.
class AvOptions {
 public:
  AvOptions() = default;
  AvOptions(const AvOptions&) = delete;
  AvOptions& operator=(const AvOptions&) = delete;
  ~AvOptions() { av_dict_free(&dictionary_); }
  void Set(const char* name, const char* value) { av_dict_set(&dictionary_, name, value, 0); }
  AVDictionary** get() { return &dictionary_; }
  // The first option that was not understood; null if all were.
  const char* unused() const {
    const AVDictionaryEntry* entry = av_dict_get(dictionary_, "", nullptr, AV_DICT_IGNORE_SUFFIX);
    return entry == nullptr ? nullptr : entry->key;
  }

 private:
  AVDictionary* dictionary_ = nullptr;
};

// Added to a codec's log level to silence it: libav's errors come back as codes, and a worker's
// stderr is a log of JSON objects.
inline constexpr int kSilence = 64;

// OK for codes from 0 on; otherwise INTERNAL with libav's text.
absl::Status AvStatus(int code, std::string_view call);

}  // namespace reel::worker
