// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/video_encoder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/fragment_writer.h"
#include "server/worker/media/h264_encoder.h"

namespace reel::worker {
namespace {

constexpr size_t kMaxPieceBytes = 1 << 20;
// The first frame is a fragment of its own, so that bytes leave as soon as there is a picture.
constexpr int kFragmentFrames = 12;
constexpr int kKeyframeEvery = 4 * kFragmentFrames;

bool EndsFragment(int frame) { return frame % kFragmentFrames == 0; }
// Only where a fragment starts, so that a reader can begin there.
bool IsKeyframe(int frame) { return frame == 0 || (frame > 1 && frame % kKeyframeEvery == 1); }

}  // namespace

VideoEncoder::VideoEncoder(EncoderOptions options, Output output, Signal signal)
    : options_(std::move(options)),
      output_(std::move(output)),
      signal_(std::move(signal)),
      thread_([this] { Run(); }) {}

VideoEncoder::~VideoEncoder() {
  Abandon();
  thread_.join();
}

bool VideoEncoder::HasRoom() const {
  MutexLock lock(mutex_);
  // One that has failed takes a Push, to answer it with its error.
  return result_ || static_cast<int>(frames_.size()) < options_.queue_frames;
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
    const auto frame = frames.data.subspan(at, bytes);
    frames_.emplace_back(frame.begin(), frame.end());
  }
  changed_.NotifyAll();
  return absl::OkStatus();
}

void VideoEncoder::Finish() {
  MutexLock lock(mutex_);
  finished_ = true;
  changed_.NotifyAll();
}

void VideoEncoder::Abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
  frames_.clear();
  changed_.NotifyAll();
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

void VideoEncoder::Run() {
  absl::StatusOr<EncodedFile> result = EncodeAll();
  {
    MutexLock lock(mutex_);
    result_ = std::move(result);
    frames_.clear();
  }
  signal_();
}

absl::StatusOr<std::optional<VideoEncoder::Frame>> VideoEncoder::NextFrame() {
  std::optional<Frame> next;
  bool room_again = false;
  {
    MutexLock lock(mutex_);
    while (frames_.empty() && !finished_ && !abandoned_) changed_.Wait(mutex_);
    if (abandoned_) return absl::CancelledError("The encoder was abandoned");
    if (frames_.empty()) return next;
    next = std::move(frames_.front());
    frames_.pop_front();
    room_again = static_cast<int>(frames_.size()) == options_.queue_frames - 1;
  }
  if (room_again) signal_();
  return next;
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

absl::StatusOr<EncodedFile> VideoEncoder::EncodeAll() {
  REEL_ASSIGN_OR_RETURN(H264Encoder encoder, H264Encoder::Open(options_.format));
  REEL_ASSIGN_OR_RETURN(const auto writer, FragmentWriter::Open(encoder.context()));
  int written = 0;
  bool cut = false;
  const auto write = [&](AVPacket& packet) -> absl::Status {
    REEL_RETURN_IF_ERROR(writer->Write(packet));
    cut = EndsFragment(written++);
    if (!cut) return absl::OkStatus();
    REEL_RETURN_IF_ERROR(writer->Cut());
    return Emit(writer->TakeBytes(), true);
  };
  int frames = 0;
  for (;; ++frames) {
    REEL_ASSIGN_OR_RETURN(const std::optional<Frame> frame, NextFrame());
    if (!frame) break;
    REEL_RETURN_IF_ERROR(encoder.Encode(*frame, IsKeyframe(frames), write));
  }
  REEL_RETURN_IF_ERROR(encoder.Flush(write));
  if (written != frames || frames == 0) {
    return absl::InternalError(
        absl::StrCat("Frames were lost: ", frames, " in, ", written, " out"));
  }
  if (!cut) {
    REEL_RETURN_IF_ERROR(writer->Cut());
    REEL_RETURN_IF_ERROR(Emit(writer->TakeBytes(), true));
  }
  return EncodedFile{absl::StrCat("video/mp4; codecs=\"", encoder.CodecString(), "\""), offset_,
                     frames, absl::Seconds(frames / options_.format.frame_rate)};
}

}  // namespace reel::worker
