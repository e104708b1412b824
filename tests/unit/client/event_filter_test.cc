// SPDX-License-Identifier: Apache-2.0
#include "client/event_filter.h"

#include <gtest/gtest.h>

#include "tests/fakes/fake_video.h"

namespace reel::client {
namespace {

using Events = std::deque<v1::VideoEvent>;

v1::VideoEvent Progress(uint64_t sequence) {
  v1::VideoEvent event;
  event.set_sequence(sequence);
  event.mutable_progress()->set_step(static_cast<int>(sequence));
  return event;
}

class EventFilterTest : public testing::Test {
 protected:
  // How many events it let through; -1 for an error.
  int Take(v1::VideoEvent event) {
    const size_t before = events_.size();
    if (!filter_.Take(std::move(event), events_, &further_).ok()) return -1;
    return static_cast<int>(events_.size() - before);
  }
  v1::VideoEvent Media(int64_t offset) {
    v1::VideoEvent event;
    *event.mutable_media() = video_.Chunk(offset, video_.size(), false);
    return event;
  }

  fakes::FakeVideo video_{250, 100};
  EventFilter filter_{false};
  Events events_;
  bool further_ = false;
};

TEST_F(EventFilterTest, DeliversAReplayOnce) {
  for (const int expected : {1, 0}) {
    EXPECT_EQ(Take(video_.Accepted()), expected);
    EXPECT_EQ(Take(Progress(2)), expected);
    EXPECT_EQ(further_, expected == 1);
    EXPECT_EQ(Take(Media(0)), expected);
    EXPECT_EQ(Take(Media(100)), expected);
  }
  EXPECT_EQ(Take(Progress(3)), 1);
  EXPECT_EQ(Take(Media(200)), 1);
  EXPECT_EQ(Take(video_.Ended(false)), 1);
  EXPECT_TRUE(filter_.finished());
}

TEST_F(EventFilterTest, AsksForTheStreamAgainWhenItsBeginningIsMissing) {
  EXPECT_EQ(Take(Progress(2)), -1);
  EXPECT_TRUE(filter_.name().empty());
}

TEST_F(EventFilterTest, VoidsMediaAtARestartAndOnlyOnce) {
  EXPECT_EQ(Take(video_.Accepted()), 1);
  EXPECT_EQ(Take(Media(0)), 1);
  const v1::VideoEvent restarted = video_.Restart();
  EXPECT_EQ(Take(restarted), 1);
  EXPECT_EQ(filter_.media_offset(), 0);
  EXPECT_EQ(Take(Media(0)), 1);
  EXPECT_EQ(Take(restarted), 0);
  EXPECT_EQ(filter_.media_offset(), 100);
}

TEST_F(EventFilterTest, MakesUpTheRestartThatItMissed) {
  EXPECT_EQ(Take(video_.Accepted()), 1);
  EXPECT_EQ(Take(Media(0)), 1);
  video_.Restart();
  EXPECT_EQ(Take(Media(0)), 2);
  EXPECT_EQ(events_[2].restarted().attempt(), 2);
  EXPECT_EQ(events_[3].media().attempt(), 2);
}

TEST_F(EventFilterTest, FollowsAJobThatReplacedTheOldOne) {
  EXPECT_EQ(Take(video_.Accepted()), 1);
  EXPECT_EQ(Take(Progress(5)), 1);
  EXPECT_EQ(Take(Media(0)), 1);
  video_.Replace();
  EXPECT_EQ(Take(video_.Accepted()), 2);
  EXPECT_TRUE(events_[3].has_restarted());
  EXPECT_EQ(filter_.name(), "videos/fake2");
  EXPECT_EQ(Take(Progress(2)), 1);
  EXPECT_EQ(Take(Media(0)), 1);
}

TEST_F(EventFilterTest, AsksForMissingMediaBeforeItBelievesTheEnd) {
  EXPECT_EQ(Take(video_.Accepted()), 1);
  EXPECT_EQ(Take(Media(100)), -1);
  EXPECT_EQ(Take(Media(0)), 1);
  EXPECT_EQ(Take(video_.Ended(false)), -1);
  EXPECT_FALSE(filter_.finished());
}

TEST_F(EventFilterTest, RefusesAFileWithAnotherHash) {
  EXPECT_EQ(Take(video_.Accepted()), 1);
  for (const int64_t offset : {0, 100, 200}) EXPECT_EQ(Take(Media(offset)), 1);
  const absl::Status status = filter_.Take(video_.Ended(true), events_, &further_);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace reel::client
