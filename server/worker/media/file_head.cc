// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/file_head.h"

#include <memory>
#include <optional>
#include <vector>

#include "kernels/base/status_macros.h"
#include "server/worker/media/aac_encoder.h"
#include "server/worker/media/fragment_writer.h"
#include "server/worker/media/fragmented_file.h"
#include "server/worker/media/h264_encoder.h"

namespace reel::worker {
namespace {

// A packet of no meaning: with sound the head is written once it is known where tracks begin.
absl::Status WriteAny(FragmentWriter& writer, int64_t time, int64_t duration, int track) {
  const AvPacketPtr packet(av_packet_alloc());
  if (!packet || av_new_packet(packet.get(), 1) < 0) {
    return absl::InternalError("Out of memory for a packet");
  }
  packet->data[0] = 0;
  packet->pts = packet->dts = time;
  packet->duration = duration;
  packet->flags |= AV_PKT_FLAG_KEY;
  return writer.Write(*packet, track);
}

}  // namespace

absl::StatusOr<std::string> HeadOf(const VideoFormat& format) {
  REEL_ASSIGN_OR_RETURN(const H264Encoder pictures, H264Encoder::Open(format));
  std::vector<const AVCodecContext*> tracks = {&pictures.context()};
  std::optional<AacEncoder> sound;
  if (format.sound.exists()) {
    REEL_ASSIGN_OR_RETURN(sound, AacEncoder::Open(format.sound));
    tracks.push_back(&sound->context());
  }
  REEL_ASSIGN_OR_RETURN(const auto writer, FragmentWriter::Open(tracks, ""));
  if (sound) {
    constexpr int kSamples = AacEncoder::kFrameSamples;
    REEL_RETURN_IF_ERROR(WriteAny(*writer, -kSamples, kSamples, 1));
    REEL_RETURN_IF_ERROR(WriteAny(*writer, 0, 1, 0));
    REEL_RETURN_IF_ERROR(writer->Cut());
  }
  const std::string bytes = writer->TakeBytes();
  REEL_ASSIGN_OR_RETURN(const FragmentedFile parts, ReadFragments(bytes));
  return std::string(parts.head);
}

}  // namespace reel::worker
