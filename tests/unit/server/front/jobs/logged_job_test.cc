// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/logged_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "server/errors/error.h"
#include "server/front/store/media_file.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"

namespace reel::front {
namespace {

constexpr absl::Time kTime = absl::UnixEpoch();

class LoggedJobTest : public ::testing::Test {
 protected:
  LoggedJobTest() {
    std::filesystem::create_directory(temp_.path() + "/media");
    std::filesystem::create_directory(temp_.path() + "/conditions");
    media_ = *OpenMediaStore({temp_.path()}, ops_);
    Video video;
    video.id = "job";
    job_ = std::make_unique<LoggedJob>(video, 0, *media_);
  }
  void Step(int step, bool keep = false, double fraction = 0) {
    Progress progress;
    progress.stage = model::Stage::kDenoise;
    progress.step = step;
    progress.fraction = fraction;
    job_->AddProgress(kTime, progress, keep);
  }
  std::vector<uint64_t> Sequences() {
    std::vector<uint64_t> found;
    for (auto entry = job_->NextEntry(0); entry; entry = job_->NextEntry(found.back())) {
      found.push_back(entry->sequence);
    }
    return found;
  }
  void Write(int attempt, const std::string& bytes) {
    media_->Begin("job", attempt);
    ASSERT_TRUE(reel::testing::Await<int64_t>([&](auto done) {
                  media_->Append("job", attempt, 0, bytes, std::move(done));
                }).ok());
  }

  reel::testing::TempFolder temp_;
  FileOps ops_;
  std::unique_ptr<MediaStore> media_;
  std::unique_ptr<LoggedJob> job_;
};

TEST_F(LoggedJobTest, AFileThatGoesBeforeTheEndIsToldIsNoDamage) {
  Write(1, "bytes");
  job_->GrowMedia(1, 5, true);
  ASSERT_TRUE(reel::testing::AwaitStatus([&](auto done) {
                media_->Remove("job", 1, std::move(done));
              }).ok());
  const auto piece = job_->ReadMedia(0, 100);
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_EQ(piece->bytes, "");
  EXPECT_FALSE(piece->fragment_end);
}

TEST_F(LoggedJobTest, SoIsOneThatHasGivenItsRoomBackWhileItIsRead) {
  Write(1, "bytes");
  job_->GrowMedia(1, 5, true);
  EXPECT_EQ(job_->ReadMedia(0, 100)->bytes, "bytes");
  std::filesystem::resize_file(temp_.path() + "/media/job.1.mp4", 0);
  const auto piece = job_->ReadMedia(0, 100);
  ASSERT_TRUE(piece.ok()) << piece.status();
  EXPECT_EQ(piece->bytes, "");
  EXPECT_FALSE(piece->fragment_end);
}

TEST_F(LoggedJobTest, ReplacesProgressUnlessItIsKept) {
  Step(1, true);
  Step(2);
  Step(3);
  Step(4, true);
  Step(5);
  EXPECT_EQ(Sequences(), (std::vector<uint64_t>{1, 2, 5, 6}));
}

TEST_F(LoggedJobTest, AReaderBehindMissesOnlyWhatWasReplaced) {
  Step(1);
  const uint64_t read = job_->NextEntry(1)->sequence;
  Step(2);
  Step(3);
  const auto next = job_->NextEntry(read);
  EXPECT_EQ(std::get<ProgressEvent>(next->event).progress.step, 3);
  EXPECT_FALSE(job_->NextEntry(next->sequence).has_value());
}

TEST_F(LoggedJobTest, FractionNeverFallsAndStaysInItsRange) {
  for (double fraction : {0.2, 0.5, 0.3, -1.0, 7.0, 0.0}) {
    const double before = job_->Snapshot().progress.fraction;
    Step(1, false, fraction);
    EXPECT_GE(job_->Snapshot().progress.fraction, before);
    EXPECT_LE(job_->Snapshot().progress.fraction, 1);
  }
}

TEST_F(LoggedJobTest, NumbersAreAboveThoseOfTheOwnerBefore) {
  LoggedJob later(job_->Snapshot(), 1'000'000, *media_);
  EXPECT_EQ(later.NextEntry(0)->sequence, 1u);
  EXPECT_EQ(later.TakeSequence(), 1'000'001u);
}

TEST_F(LoggedJobTest, ReadsUpToTheEndOfAFragment) {
  Write(1, "aaabbbbcc");
  job_->GrowMedia(1, 3, true);
  job_->GrowMedia(1, 7, true);
  job_->GrowMedia(1, 9, false);
  EXPECT_EQ(job_->ReadMedia(0, 100)->bytes, "aaa");
  EXPECT_TRUE(job_->ReadMedia(0, 100)->fragment_end);
  EXPECT_EQ(job_->ReadMedia(3, 2)->bytes, "bb");
  EXPECT_FALSE(job_->ReadMedia(3, 2)->fragment_end);
  EXPECT_EQ(job_->ReadMedia(5, 2)->bytes, "bb");
  EXPECT_TRUE(job_->ReadMedia(5, 2)->fragment_end);
  EXPECT_EQ(job_->ReadMedia(7, 100)->bytes, "cc");
  EXPECT_FALSE(job_->ReadMedia(7, 100)->fragment_end);
  EXPECT_EQ(ReasonOf(job_->ReadMedia(-1, 1).status()), Reason::kOffsetPastEnd);
}

TEST_F(LoggedJobTest, ARestartBeginsTheMediaAnew) {
  Write(1, "old");
  job_->GrowMedia(1, 3, true);
  EXPECT_EQ(job_->ReadMedia(0, 10)->bytes, "old");
  job_->AddRestart({job_->TakeSequence(), kTime, "X", 2}, [](Video& video) { video.attempt = 2; });
  EXPECT_EQ(job_->media_size(), 0);
  job_->GrowMedia(1, 9, true);  // late news of the old one
  EXPECT_EQ(job_->media_size(), 0);
  Write(2, "newer");
  job_->GrowMedia(2, 5, true);
  const auto piece = job_->ReadMedia(0, 10);
  EXPECT_EQ(piece->attempt, 2);
  EXPECT_EQ(piece->bytes, "newer");
}

TEST_F(LoggedJobTest, AFailureHasNoMediaAndNoFinished) {
  Write(1, "some");
  job_->GrowMedia(1, 4, true);
  Video video = job_->Snapshot();
  video.state = VideoState::kFailed;
  job_->End(video, 0);
  EXPECT_EQ(job_->ReadMedia(4, 10)->bytes, "");
  EXPECT_EQ(Sequences(), std::vector<uint64_t>{1});
}

TEST_F(LoggedJobTest, WakesItsListenersAndForgetsThoseThatAreGone) {
  struct Counter : JobListener {
    void Wake() override { ++wakes; }
    std::atomic<int> wakes = 0;
  };
  auto here = std::make_shared<Counter>(), gone = std::make_shared<Counter>();
  job_->Listen(here);
  job_->Listen(gone);
  gone.reset();
  Step(1);
  job_->GrowMedia(1, 3, true);
  EXPECT_EQ(here->wakes, 2);
}

// Whoever wakes may come back at once for what is new.
TEST_F(LoggedJobTest, HoldsNoLockWhileItWakes) {
  struct Reader : JobListener {
    explicit Reader(LoggedJob& of) : job(of) {}
    void Wake() override { seen = job.NextEntry(1)->sequence; }
    LoggedJob& job;
    std::atomic<uint64_t> seen = 0;
  };
  auto reader = std::make_shared<Reader>(*job_);
  job_->Listen(reader);
  Step(1);
  EXPECT_EQ(reader->seen, 2u);
}

TEST_F(LoggedJobTest, ManyMayReadWhileItGrows) {
  Write(1, std::string(1000, 'x'));
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        (void)job_->Snapshot();
        (void)job_->NextEntry(1);
        (void)job_->ReadMedia(0, 100);
      }
    });
  }
  for (int i = 1; i <= 300; ++i) {
    Step(i);
    job_->GrowMedia(1, i, i % 12 == 0);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(job_->media_size(), 300);
}

}  // namespace
}  // namespace reel::front
