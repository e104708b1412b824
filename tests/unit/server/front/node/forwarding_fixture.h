// SPDX-License-Identifier: Apache-2.0
// A video of another node, which a test plays.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "server/front/node/fleet_video.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/node/scripted_peers.h"

namespace reel::front {

inline constexpr char kTenant[] = "blue";
inline constexpr char kVideo[] = "prod-abc";
inline constexpr absl::Duration kTickStep = absl::Milliseconds(100);

class CountsWakes final : public JobListener {
 public:
  void Wake() override { ++count; }
  int count = 0;
};

inline LogEntry ProgressAt(uint64_t sequence, model::Stage stage, int step) {
  Progress progress;
  progress.stage = stage;
  progress.step = step;
  return {sequence, absl::Now(), ProgressEvent{progress}};
}

class ForwardingFixture : public ::testing::Test {
 protected:
  static FleetJob ClaimedBy(const std::string& node, uint32_t epoch) {
    FleetJob job;
    job.phase = FleetPhase::kClaimed;
    job.epoch = job.begun = epoch;
    job.owner = node;
    job.address = node + ":7";
    return job;
  }
  static FleetJob SucceededAt(const std::string& node, uint32_t epoch, uint64_t last) {
    FleetJob job = ClaimedBy(node, epoch);
    job.phase = FleetPhase::kSucceeded;
    job.last_sequence = last;
    return job;
  }
  static Video AVideo() {
    Video video;
    video.id = kVideo;
    video.tenant = kTenant;
    return video;
  }
  static Video Finished(int64_t size, int attempt = 1) {
    Video video = AVideo();
    video.state = VideoState::kSucceeded;
    video.attempt = attempt;
    video.media.size_bytes = size;
    return video;
  }
  std::shared_ptr<FleetVideo> Face(const FleetJob& job, Video video = AVideo()) {
    return std::make_shared<FleetVideo>(job, std::move(video), Onlooker{"here", {peers_, spool_}});
  }
  // As a stream does that begins at `offset` of the file.
  void Read(FleetVideo& face, int64_t offset = 0) {
    face.Listen(wakes_);
    EXPECT_TRUE(face.ReadMedia(offset, 1).ok());
  }
  void Pass(FleetVideo& face, absl::Duration by) {
    for (absl::Duration passed; passed < by; passed += kTickStep) {
      now_ += kTickStep;
      face.Tick(now_);
    }
  }
  static MediaPiece Piece(int attempt, int64_t offset, const std::string& bytes) {
    return {attempt, offset, bytes, true};
  }
  static std::string BytesAt(const FleetVideo& face, int64_t offset) {
    const auto piece = face.ReadMedia(offset, 1000);
    EXPECT_TRUE(piece.ok()) << piece.status();
    return piece.ok() ? piece->bytes : "";
  }
  static int StepAfter(const FleetVideo& face, uint64_t sequence) {
    const auto entry = face.NextEntry(sequence);
    if (!entry || !std::holds_alternative<ProgressEvent>(entry->event)) return -1;
    return std::get<ProgressEvent>(entry->event).progress.step;
  }

  reel::testing::TempFolder folder_;
  std::shared_ptr<ScriptedPeers> peers_ = std::make_shared<ScriptedPeers>();
  std::shared_ptr<Spool> spool_ = std::make_shared<Spool>(folder_.path(), 1000);
  std::shared_ptr<CountsWakes> wakes_ = std::make_shared<CountsWakes>();
  absl::Duration now_ = absl::Seconds(1000);
};

}  // namespace reel::front
