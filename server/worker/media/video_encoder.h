// SPDX-License-Identifier: Apache-2.0
// A sink of frames that encodes on threads of its own, the lanes, and hands out the bytes of a
// fragmented MP4 (H.264 and AAC) while they are made. Pushing never waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "model/frame_sink.h"
#include "model/run_stats.h"
#include "server/worker/media/file_begin.h"
#include "server/worker/media/origin_boxes.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

class FragmentWriter;
class FrameGroups;
class SoundTrack;

struct EncoderOptions {
  VideoFormat format;
  int lanes = 1;  // groups of frames encoded side by side
  int queue_frames =
      16;  // waiting frames, beside a group for each lane, above which there is no room
  FileOrigin origin = {};
  std::optional<FileBegin> begin = {};  // nullopt: the file is all its own
};

// The lanes for this many threads; 0: the machine's cores, up to 16.
int EncoderLanes(int threads);

struct EncodedFile {
  std::string content_type;  // e.g. video/mp4; codecs="avc1.64001f, mp4a.40.2"
  int64_t size_bytes = 0;
  int num_frames = 0;
  absl::Duration duration;
  model::SoundFormat sound = {};
  int width = 0, height = 0;
  std::optional<model::SoundStats> sound_stats = {};  // unset: it has no sound
  bool is_limited = false;  // its sound is quieter than was asked for, for its loudest sample
};

// Thread-safe, except for destruction.
class VideoEncoder final : public model::FrameSink {
 public:
  // The next piece of the file, from `offset` on, at most 1 MiB. The file plays up to a piece that
  // ends a fragment. Called on the writer's thread, which it may block.
  using Output = absl::AnyInvocable<void(int64_t offset, std::string bytes, bool fragment_end)>;
  // There is room again, or the encoder is done. Called on the writer's thread; must not block.
  using Signal = absl::AnyInvocable<void()>;

  // The complete file, or the error. Called on the writer's thread before the encoder is done; must
  // not block.
  using Ended = absl::AnyInvocable<void(const absl::StatusOr<EncodedFile>& file)>;

  // `ended` may be null.
  VideoEncoder(EncoderOptions options, Output output, Signal signal, Ended ended = nullptr);
  // Abandons, then waits for a running call of Output.
  ~VideoEncoder() override;
  VideoEncoder(const VideoEncoder&) = delete;
  VideoEncoder& operator=(const VideoEncoder&) = delete;

  model::FrameFormat format() const override { return model::FrameFormat::kI420; }
  bool HasRoom() const override;
  // Returns the encoder's own error once there is one.
  absl::Status Push(const model::FramesView& frames) override;
  bool TakesSound() const override { return options_.format.sound.exists(); }
  absl::Status PushSamples(const model::SamplesView& samples) override;

  // No further frames: encode what waits, then be done. Returns at once.
  void Finish();
  // Stops soon. Returns at once; one call of Output may still come.
  void Abandon();

  // True: the threads have ended their work and make no further call.
  bool done() const;
  // The complete file, or the error. Only once it is done.
  absl::StatusOr<EncodedFile> result() const;

 private:
  void EncodeGroups();
  void Run();
  absl::StatusOr<EncodedFile> WriteFile();
  // Writes what comes before the first frame that is encoded here.
  absl::Status WriteBegin(const TakenBegin& begin, SoundTrack* sound);
  // The number of frames, with those of `begin`; it and `sound` may be null.
  absl::StatusOr<int> WriteFrames(FragmentWriter& writer, TakenBegin* begin, SoundTrack* sound);
  // The frames of the file that are another's.
  int taken_frames() const { return options_.begin ? options_.begin->frames : 0; }
  // Blocks until the track has the samples that the first `frames` frames need.
  absl::Status AwaitSound(SoundTrack& sound, int frames);
  absl::Status Emit(std::string bytes, bool fragment_end);
  // The number of frames in the encoder above which there is no room.
  int most_waiting() const;
  bool abandoned() const;

  const EncoderOptions options_;
  Output output_;
  Signal signal_;
  Ended ended_;
  int64_t offset_ = 0;                            // writer's thread only
  std::optional<model::SoundStats> sound_stats_;  // likewise

  mutable Mutex mutex_;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  int to_skip_ ABSL_GUARDED_BY(mutex_) = 0;  // frames that come and are taken from elsewhere
  std::optional<absl::StatusOr<EncodedFile>> result_ ABSL_GUARDED_BY(mutex_);
  std::vector<float> samples_ ABSL_GUARDED_BY(mutex_);  // until a frame's packet needs them
  bool sound_comes_ ABSL_GUARDED_BY(mutex_) = false;    // more follows; set by each part
  CondVar sound_changed_;
  std::unique_ptr<FrameGroups> groups_;
  std::thread writer_;
};

}  // namespace reel::worker
