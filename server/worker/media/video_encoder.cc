// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/video_encoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/file_sound.h"
#include "server/worker/media/fragment_writer.h"
#include "server/worker/media/frame_groups.h"
#include "server/worker/media/h264_encoder.h"
#include "server/worker/media/sound_track.h"

namespace reel::worker {
namespace {

constexpr size_t kMaxPieceBytes = 1 << 20;

// The first frame is a fragment of its own, so that bytes leave as soon as there is a picture;
// after it every group is one.
bool EndsFragment(int frame) { return frame % kGroupFrames == 0; }

// Encodes one group with a new encoder, so that its bytes do not depend on other groups.
absl::Status EncodeGroup(absl::StatusOr<H264Encoder> opened, FrameGroups& groups,
                         FrameGroups::Group& group) {
  REEL_ASSIGN_OR_RETURN(H264Encoder encoder, std::move(opened));
  const auto add = [&](AVPacket& packet) -> absl::Status {
    AvPacketPtr own(av_packet_alloc());
    if (!own) return absl::InternalError("Out of memory for a packet");
    av_packet_move_ref(own.get(), &packet);
    groups.Add(group, std::move(own));
    return absl::OkStatus();
  };
  bool first = true;
  while (const std::optional<FrameGroups::Frame> frame = groups.NextFrame(group)) {
    REEL_RETURN_IF_ERROR(encoder.Encode(*frame, std::exchange(first, false), add));
  }
  return encoder.Flush(add);
}

// None if the format has no sound.
absl::StatusOr<std::optional<SoundTrack>> OpenSound(const VideoFormat& format) {
  if (!format.sound.exists()) return std::nullopt;
  return SoundTrack::Open(format);
}

}  // namespace

int EncoderLanes(int threads) {
  constexpr int kThreadsOfALane =
      2;  // threads that it keeps busy; a frame's slices take turns on them
  constexpr int kMostThreads = 16;
  if (threads == 0) {
    threads = std::min(kMostThreads, static_cast<int>(std::thread::hardware_concurrency()));
  }
  return std::max(1, threads / kThreadsOfALane);
}

VideoEncoder::VideoEncoder(EncoderOptions options, Output output, Signal signal, Ended ended)
    : options_(std::move(options)),
      output_(std::move(output)),
      signal_(std::move(signal)),
      ended_(std::move(ended)),
      to_skip_(options_.begin ? options_.begin->frames - options_.begin->first_made : 0),
      groups_(std::make_unique<FrameGroups>(taken_frames())),
      writer_([this] { Run(); }) {}

VideoEncoder::~VideoEncoder() {
  Abandon();
  writer_.join();
}

bool VideoEncoder::HasRoom() const {
  MutexLock lock(mutex_);
  // After a failure Push is let through, to return the error.
  return result_ || groups_->waiting() < most_waiting();
}

int VideoEncoder::most_waiting() const {
  return options_.queue_frames + kGroupFrames * (options_.lanes - 1);
}

absl::Status VideoEncoder::Push(const model::FramesView& frames) {
  const auto bytes = static_cast<size_t>(
      model::FrameBytes(format(), options_.format.width, options_.format.height));
  if (frames.format != format() || frames.width != options_.format.width ||
      frames.height != options_.format.height ||
      frames.data.size() != bytes * static_cast<size_t>(frames.num_frames)) {
    return absl::InternalError(absl::StrCat("Frames have the wrong size: ", frames.width, "x",
                                            frames.height, ", ", frames.data.size(), " bytes"));
  }
  MutexLock lock(mutex_);
  if (result_) return result_->status();
  if (finished_) return absl::InternalError("A frame came after the last one");
  for (size_t at = 0; at < frames.data.size(); at += bytes) {
    if (to_skip_ > 0) {
      --to_skip_;
      continue;
    }
    const auto frame = frames.data.subspan(at, bytes);
    groups_->Push({frame.begin(), frame.end()});
  }
  return absl::OkStatus();
}

absl::Status VideoEncoder::PushSamples(const model::SamplesView& samples) {
  if (samples.format != options_.format.sound) {
    return absl::InternalError(absl::StrCat("Sound of ", samples.format.sample_rate, " Hz and ",
                                            samples.format.channels,
                                            " channels does not fit this file"));
  }
  MutexLock lock(mutex_);
  if (result_) return result_->status();
  if (groups_->pushed() > 0 && !sound_comes_) {
    return absl::InternalError("Sound came after the first frame, or after the last sound");
  }
  samples_.insert(samples_.end(), samples.interleaved.begin(), samples.interleaved.end());
  sound_comes_ = !samples.is_last;
  sound_changed_.NotifyAll();
  return absl::OkStatus();
}

void VideoEncoder::Finish() {
  MutexLock lock(mutex_);
  finished_ = true;
  sound_changed_.NotifyAll();
  groups_->Finish();
}

void VideoEncoder::Abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
  sound_changed_.NotifyAll();
  groups_->Abandon();
}

bool VideoEncoder::abandoned() const {
  MutexLock lock(mutex_);
  return abandoned_;
}

bool VideoEncoder::done() const {
  MutexLock lock(mutex_);
  return result_.has_value();
}

absl::StatusOr<EncodedFile> VideoEncoder::result() const {
  MutexLock lock(mutex_);
  return result_ ? *result_ : absl::FailedPreconditionError("The encoder is not done");
}

void VideoEncoder::EncodeGroups() {
  // The first encoder is opened before frames come.
  std::optional<absl::StatusOr<H264Encoder>> opened = H264Encoder::Open(options_.format);
  while (FrameGroups::Group* const group = groups_->Take()) {
    if (!opened) opened = H264Encoder::Open(options_.format);
    groups_->Done(*group, EncodeGroup(*std::exchange(opened, std::nullopt), *groups_, *group));
  }
}

void VideoEncoder::Run() {
  std::vector<std::thread> lanes;
  for (int i = 0; i < options_.lanes; ++i) lanes.emplace_back([this] { EncodeGroups(); });
  absl::StatusOr<EncodedFile> result = WriteFile();
  groups_->Abandon();
  for (std::thread& lane : lanes) lane.join();
  if (ended_) ended_(result);
  {
    MutexLock lock(mutex_);
    result_ = std::move(result);
  }
  signal_();
}

absl::Status VideoEncoder::Emit(std::string bytes, bool fragment_end) {
  for (size_t at = 0; at < bytes.size(); at += kMaxPieceBytes) {
    if (abandoned()) return absl::CancelledError("The encoder was abandoned");
    const bool last = at + kMaxPieceBytes >= bytes.size();
    std::string piece = at == 0 && last ? std::move(bytes) : bytes.substr(at, kMaxPieceBytes);
    const auto size = static_cast<int64_t>(piece.size());
    output_(offset_, std::move(piece), fragment_end && last);
    offset_ += size;
    if (last) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<EncodedFile> VideoEncoder::WriteFile() {
  // Only for the file's head: every group's encoder has the same parameters.
  REEL_ASSIGN_OR_RETURN(const H264Encoder encoder, H264Encoder::Open(options_.format));
  REEL_ASSIGN_OR_RETURN(std::optional<SoundTrack> sound, OpenSound(options_.format));
  std::vector<const AVCodecContext*> tracks = {&encoder.context()};
  if (sound) tracks.push_back(&sound->context());
  SoundTrack* const own_sound = sound ? &*sound : nullptr;
  std::optional<TakenBegin> begin;
  if (options_.begin) {
    REEL_ASSIGN_OR_RETURN(begin, TakenBegin::Open(*options_.begin));
    REEL_RETURN_IF_ERROR(WriteBegin(*begin, own_sound));
  }
  REEL_ASSIGN_OR_RETURN(
      const auto writer,
      FragmentWriter::Open(tracks, begin ? std::string() : OriginBoxes(options_.origin)));
  REEL_ASSIGN_OR_RETURN(const int frames,
                        WriteFrames(*writer, begin ? &*begin : nullptr, own_sound));
  if (frames == 0) return absl::InternalError("A file has frames");
  std::string codecs = encoder.CodecString();
  if (sound) absl::StrAppend(&codecs, ", ", AacEncoder::CodecString());
  return EncodedFile{absl::StrCat("video/mp4; codecs=\"", codecs, "\""),
                     offset_,
                     frames,
                     absl::Seconds(frames / options_.format.frame_rate),
                     options_.format.sound,
                     options_.format.width,
                     options_.format.height,
                     sound_stats_,
                     sound && sound->is_limited()};
}

absl::Status VideoEncoder::WriteBegin(const TakenBegin& begin, SoundTrack* sound) {
  std::string next = std::string(begin.head()) + OriginBoxes(options_.origin);
  for (const Fragment& fragment : begin.fragments()) {
    next += fragment.bytes;
    REEL_RETURN_IF_ERROR(Emit(std::exchange(next, std::string()), true));
  }
  if (sound == nullptr) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(std::vector<float> samples,
                        DecodeFileSound(begin.file(), options_.format.sound));
  sound->Follow({std::move(samples), begin.packets(), options_.begin->first_made});
  return absl::OkStatus();
}

absl::StatusOr<int> VideoEncoder::WriteFrames(FragmentWriter& writer, TakenBegin* begin,
                                              SoundTrack* sound) {
  const int first = taken_frames();
  const auto add_sound = [&](AVPacket& packet) { return writer.Write(packet, 1); };
  const auto cut_here = [&]() -> absl::Status {
    REEL_RETURN_IF_ERROR(writer.Cut());
    std::string bytes = writer.TakeBytes();
    if (begin != nullptr) REEL_RETURN_IF_ERROR(begin->Follow(bytes));
    return Emit(std::move(bytes), true);
  };
  bool cut = true;
  int frames = first;
  for (;; ++frames) {
    REEL_ASSIGN_OR_RETURN(const FrameGroups::HandedOut next, groups_->NextPacket());
    if (!next.packet) break;
    if (next.waiting == most_waiting() - 1) signal_();  // there is room again
    if (sound != nullptr) {
      REEL_RETURN_IF_ERROR(AwaitSound(*sound, frames + 1));
      REEL_RETURN_IF_ERROR(sound->WriteUntil(frames + 1, add_sound));
    }
    next.packet->pts = next.packet->dts = frames - first;
    REEL_RETURN_IF_ERROR(writer.Write(*next.packet));
    cut = EndsFragment(frames);
    if (cut) REEL_RETURN_IF_ERROR(cut_here());
    // Once the first bytes have left, which it would hold up.
    if (sound != nullptr && sound->has_all() && cut && !sound_stats_) {
      sound_stats_ = sound->Measure();
    }
  }
  if (!cut) REEL_RETURN_IF_ERROR(cut_here());
  if (sound != nullptr && !sound_stats_) sound_stats_ = sound->Measure();
  return frames;
}

absl::Status VideoEncoder::AwaitSound(SoundTrack& sound, int frames) {
  while (!sound.HasUntil(frames)) {
    std::vector<float> samples;
    bool is_last = false;
    {
      MutexLock lock(mutex_);
      while (samples_.empty() && sound_comes_ && !finished_ && !abandoned_) {
        sound_changed_.Wait(mutex_);
      }
      if (abandoned_) return absl::CancelledError("The encoder was abandoned");
      if (samples_.empty() && sound_comes_) {
        return absl::InternalError("The frames ended before their sound");
      }
      samples = std::exchange(samples_, {});
      is_last = !sound_comes_;
    }
    sound.Add(samples, is_last);
  }
  return absl::OkStatus();
}

}  // namespace reel::worker
