// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "server/errors/error.h"
#include "server/front/rpc/stream_reactor.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

std::shared_ptr<ScriptedJob> Finished(const std::string& bytes) {
  Video video;
  video.id = "v";
  auto job = std::make_shared<ScriptedJob>(video);
  job->Media(bytes);
  job->Succeed();
  return job;
}

std::string Read(DownloadSource& source, absl::Status& end) {
  std::string bytes;
  for (;;) {
    v1::DownloadVideoResponse message;
    if (source.Next(message, end) != StreamStep::kMessage) return bytes;
    bytes += message.chunk().data();
  }
}

TEST(DownloadSource, HugeLimitsDoNotOverflow) {
  DownloadSource source(Finished("abcdef"), {"v", 2, std::numeric_limits<int64_t>::max()});
  absl::Status end;
  EXPECT_EQ(Read(source, end), "cdef");
  EXPECT_TRUE(end.ok());
}

TEST(DownloadSource, WaitsForBytesThatAreOnTheirWay) {
  const auto job = Finished("abcdef");
  job->HoldBack(2);
  DownloadSource source(job, {"v", 0, 0});
  absl::Status end = absl::UnknownError("none");
  EXPECT_EQ(Read(source, end), "ab");
  EXPECT_TRUE(absl::IsUnknown(end));  // it has none
  job->HoldBack(6);
  EXPECT_EQ(Read(source, end), "cdef");
  EXPECT_TRUE(end.ok());
}

// A job whose file is shorter than it says.
class ShortJob final : public Job {
 public:
  Video Snapshot() const override {
    Video video;
    video.state = VideoState::kSucceeded;
    return video;
  }
  VideoState state() const override { return VideoState::kSucceeded; }
  std::optional<LogEntry> NextEntry(uint64_t) const override { return std::nullopt; }
  int attempt() const override { return 1; }
  int64_t media_size() const override { return 10; }
  absl::StatusOr<MediaPiece> ReadMedia(int64_t offset, int64_t) const override {
    return MediaPiece{1, offset, offset == 0 ? "abc" : "", false};
  }
  void Listen(std::weak_ptr<JobListener>) override {}
};

TEST(DownloadSource, AFileThatLostItsEndIsDataLoss) {
  DownloadSource source(std::make_shared<ShortJob>(), {"v", 0, 0});
  absl::Status end;
  EXPECT_EQ(Read(source, end), "abc");
  EXPECT_EQ(ReasonOf(end), Reason::kMediaCorrupt);
}

}  // namespace
}  // namespace reel::front
