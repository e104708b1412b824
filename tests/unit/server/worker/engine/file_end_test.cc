// SPDX-License-Identifier: Apache-2.0
// A file's end, by instants that are told: in time, too late, and when the engine was first.
#include "server/worker/engine/file_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"
#include "tests/unit/server/worker/engine/recording_events.h"

namespace reel::worker {
namespace {

constexpr int kFrames = 9, kSteps = 4;
const absl::Time kStart = absl::UnixEpoch() + absl::Seconds(100);

class FileEndTest : public ::testing::Test {
 protected:
  void Expect(absl::Time deadline = absl::InfiniteFuture(), std::string state = "") {
    FileEnd::Success success{{"a", 2, {}}, deadline, kFrames, kSteps, {}, {}};
    if (!state.empty()) {
      success.state = [state = std::move(state)](const std::string& file) { return state + file; };
    }
    success.finished.stats.device = "cpu";
    success.clock.Enter(model::RunPart::kEncode, kStart - absl::UnixEpoch());
    end_.Expect(std::move(success));
  }
  static EncodedFile File(int frames = kFrames) {
    return {"video/mp4", 1000, frames, absl::Seconds(1)};
  }

  RecordingEvents events_;
  FileEnd end_{events_};
};

TEST_F(FileEndTest, AWholeFileIsASuccess) {
  Expect();
  end_.Complete(File(), kStart + absl::Seconds(3));
  ASSERT_TRUE(events_.has_ended("a"));
  const auto ended = events_.ended("a");
  EXPECT_TRUE(ended.error.ok()) << ended.error;
  EXPECT_EQ(ended.ref.attempt, 2);
  EXPECT_EQ(ended.result.media.content_type, "video/mp4");
  EXPECT_EQ(ended.result.media.size_bytes, 1000);
  EXPECT_EQ(ended.result.media.duration, absl::Seconds(1));
  EXPECT_EQ(ended.result.stats.device, "cpu");
  ASSERT_EQ(ended.result.stats.parts.size(), 1u);
  EXPECT_EQ(ended.result.stats.parts[0].part, model::RunPart::kEncode);
  EXPECT_EQ(ended.result.stats.parts[0].time, absl::Seconds(3));
  EXPECT_FALSE(end_.Claim()) << "it has been told";
}

TEST_F(FileEndTest, TellsWhatTheSoundIsLikeAndWhenItCouldNotBeAsLoudAsWasAsked) {
  Expect();
  EncodedFile file = File();
  file.sound_stats = {.loudness_lufs = -17.5, .true_peak_dbtp = -1};
  file.is_limited = true;
  end_.Complete(file, kStart);
  ASSERT_TRUE(events_.has_ended("a"));
  const JobFinished result = events_.ended("a").result;
  EXPECT_EQ(result.stats.sound, file.sound_stats);
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_EQ(result.notices[0].code, "LOUDNESS_LIMITED");
  EXPECT_THAT(result.notices[0].message, ::testing::HasSubstr("-17.5 LUFS"));
}

TEST_F(FileEndTest, ItsStateComesFirstInPieces) {
  const std::string state = std::string(kStatePieceBytes, 's') + "rest";
  Expect(absl::InfiniteFuture(), state);
  end_.Complete(File(), kStart);
  ASSERT_TRUE(events_.has_ended("a"));
  EXPECT_EQ(events_.state("a"), state);
  EXPECT_TRUE(events_.contiguous());
  EXPECT_EQ(events_.ended("a").result.state_size_bytes, static_cast<int64_t>(state.size()));
  EXPECT_EQ(events_.ended("a").result.state_sha256, Sha256Hex(state));
}

TEST_F(FileEndTest, ItsStateHasWhatWasKeptOfTheFile) {
  Expect(absl::InfiniteFuture(), "state ");
  end_.Keep("and ");
  end_.Keep("file");
  end_.Complete(File(), kStart);
  EXPECT_EQ(events_.state("a"), "state and file");
}

TEST_F(FileEndTest, OfAFileThatIsTooLateThereIsNoState) {
  Expect(kStart, "state");
  end_.Complete(File(), kStart);
  EXPECT_EQ(events_.state("a"), "");
}

TEST_F(FileEndTest, AFileThatIsWholeAtItsDeadlineIsTooLate) {
  Expect(kStart);
  end_.Complete(File(), kStart);
  ASSERT_TRUE(events_.has_ended("a"));
  const auto ended = events_.ended("a");
  EXPECT_EQ(ReasonOf(ended.error), Reason::kDeadlinePassed);
  EXPECT_EQ(ended.error.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(ended.suspect);
  EXPECT_FALSE(end_.Claim());
}

TEST_F(FileEndTest, AFileThatIsWholeJustBeforeItsDeadlineIsInTime) {
  Expect(kStart);
  end_.Complete(File(), kStart - absl::Nanoseconds(1));
  ASSERT_TRUE(events_.has_ended("a"));
  EXPECT_TRUE(events_.ended("a").error.ok());
}

TEST_F(FileEndTest, NothingIsToldOnceTheEngineHasTheEnd) {
  Expect();
  EXPECT_TRUE(end_.Claim());
  end_.Complete(File(), kStart);
  EXPECT_FALSE(events_.has_ended("a"));
  EXPECT_TRUE(end_.Claim()) << "it stays the engine's";
}

TEST_F(FileEndTest, OfAFileThatIsNotWholeTheEngineTells) {
  Expect();
  end_.Complete(File(kFrames - 1), kStart);
  end_.Complete(absl::InternalError("no codec"), kStart);
  EXPECT_FALSE(events_.has_ended("a"));
  EXPECT_TRUE(end_.Claim());
}

TEST_F(FileEndTest, OfAJobWhoseFramesAreNotAllThereTheEngineTells) {
  end_.Complete(absl::InternalError("no codec"), kStart);
  EXPECT_FALSE(events_.has_ended("a"));
  EXPECT_TRUE(end_.Claim());
}

TEST_F(FileEndTest, TellsHowLongTheEngineHadNothingElseToDo) {
  Expect();
  end_.EngineRests(kStart);
  end_.EngineMoves(kStart + absl::Seconds(2));
  end_.EngineRests(kStart + absl::Seconds(5));
  end_.Complete(File(), kStart + absl::Seconds(6));  // while it still rests
  EXPECT_EQ(events_.ended("a").result.stats.encode_exposed, absl::Seconds(3));
}

}  // namespace
}  // namespace reel::worker
