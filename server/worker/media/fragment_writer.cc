// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/fragment_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::worker {
namespace {

constexpr int kBufferBytes = 64 * 1024;

// Fragments where the caller cuts; no sample in the head; offsets relative to each fragment; no
// index at the end, so that the file ends with its last fragment.
constexpr char kMovFlags[] = "frag_custom+empty_moov+default_base_moof+skip_trailer";
// With sound the head also waits for the first packets, since an edit list says that sound begins
// before 0. Note: [Sound in step] in aac_encoder.h.
constexpr char kDelayedHead[] = "+delay_moov";

}  // namespace

template <typename Byte>
int FragmentWriter::OnWrite(void* self, Byte* data, int size) {
  static_cast<FragmentWriter*>(self)->bytes_.append(reinterpret_cast<const char*>(data),
                                                    static_cast<size_t>(size));
  return size;
}

absl::StatusOr<std::unique_ptr<FragmentWriter>> FragmentWriter::Open(
    absl::Span<const AVCodecContext* const> codecs, std::string boxes) {
  std::unique_ptr<FragmentWriter> writer(new FragmentWriter);
  writer->boxes_ = std::move(boxes);
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return absl::InternalError("Out of memory for a file's buffer");
  writer->io_.reset(
      avio_alloc_context(buffer, kBufferBytes, 1, writer.get(), nullptr, &OnWrite, nullptr));
  if (!writer->io_) {
    av_free(buffer);
    return absl::InternalError("Out of memory for a file's buffer");
  }
  writer->io_->seekable = 0;
  AVFormatContext* format = nullptr;
  REEL_RETURN_IF_ERROR(AvStatus(avformat_alloc_output_context2(&format, nullptr, "mp4", nullptr),
                                "avformat_alloc_output_context2"));
  writer->format_.reset(format);
  format->pb = writer->io_.get();
  format->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT;
  for (const AVCodecContext* codec : codecs) REEL_RETURN_IF_ERROR(writer->AddTrack(*codec));
  REEL_RETURN_IF_ERROR(writer->WriteHead());
  return writer;
}

absl::Status FragmentWriter::AddTrack(const AVCodecContext& codec) {
  AVStream* stream = avformat_new_stream(format_.get(), nullptr);
  if (stream == nullptr) return absl::InternalError("Out of memory for a stream");
  REEL_RETURN_IF_ERROR(AvStatus(avcodec_parameters_from_context(stream->codecpar, &codec),
                                "avcodec_parameters_from_context"));
  time_bases_.push_back(codec.time_base);
  stream->time_base = codec.time_base;
  if (codec.codec_type == AVMEDIA_TYPE_VIDEO) stream->avg_frame_rate = codec.framerate;
  return absl::OkStatus();
}

absl::Status FragmentWriter::WriteHead() {
  head_comes_ = time_bases_.size() > 1;
  AvOptions options;
  options.Set("movflags", absl::StrCat(kMovFlags, head_comes_ ? kDelayedHead : "").c_str());
  REEL_RETURN_IF_ERROR(
      AvStatus(avformat_write_header(format_.get(), options.get()), "avformat_write_header"));
  if (!head_comes_) AppendBoxes();
  return absl::OkStatus();
}

void FragmentWriter::AppendBoxes() {
  avio_flush(io_.get());
  bytes_ += std::exchange(boxes_, std::string());
}

absl::Status FragmentWriter::Write(AVPacket& packet, int track) {
  packet.stream_index = track;
  const auto at = static_cast<size_t>(track);
  av_packet_rescale_ts(&packet, time_bases_[at], format_->streams[at]->time_base);
  return AvStatus(av_write_frame(format_.get(), &packet), "av_write_frame");
}

absl::Status FragmentWriter::Cut() {
  if (std::exchange(head_comes_, false)) {
    // libav's first flush writes only a delayed head.
    REEL_RETURN_IF_ERROR(AvStatus(av_write_frame(format_.get(), nullptr), "av_write_frame"));
    AppendBoxes();
  }
  return AvStatus(av_write_frame(format_.get(), nullptr), "av_write_frame");
}

std::string FragmentWriter::TakeBytes() {
  avio_flush(io_.get());
  return std::exchange(bytes_, std::string());
}

}  // namespace reel::worker
