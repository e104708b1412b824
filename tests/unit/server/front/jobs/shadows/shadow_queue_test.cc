// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/shadows/shadow_queue.h"

#include <gtest/gtest.h>

namespace reel::front {
namespace {

std::vector<ExperimentOptions> Shadowed(double share) {
  return {{"norms", "", 0.5, {{"old", "auto", 0.5}, {"new", "mine", 0.5}}, share}};
}

Video Finished(const std::string& id, const std::string& arm = "old") {
  Video video;
  video.id = id;
  video.state = VideoState::kSucceeded;
  video.spec.kernels.experiment = "norms";
  video.spec.kernels.arm = arm;
  return video;
}

std::optional<ShadowCandidate> TakeAny(ShadowQueue& queue) {
  return queue.Take([](const ShadowCandidate&) { return true; });
}

TEST(ShadowQueue, TakesTheConfiguredShareAndTheOtherArm) {
  ShadowQueue none(Shadowed(0)), all(Shadowed(1)), tenth(Shadowed(0.1));
  int taken = 0;
  for (int i = 0; i < 2000; ++i) {
    const Video video = Finished("v-" + std::to_string(i), "new");
    none.Ended(video);
    all.Ended(video);
    tenth.Ended(video);
    taken += TakeAny(tenth) ? 1 : 0;
  }
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(all.size(), ShadowQueue::kMost);
  EXPECT_NEAR(taken, 200, 50);
  const auto latest = TakeAny(all);
  ASSERT_TRUE(latest.has_value());
  EXPECT_EQ(latest->video, "v-1999");
  EXPECT_EQ(latest->arm, 1u);
  EXPECT_EQ(latest->other.profile, "auto");
}

TEST(ShadowQueue, LeavesOutWhatCannotBeRenderedAgain) {
  ShadowQueue queue(Shadowed(1));
  Video failed = Finished("a"), conditioned = Finished("b"), other = Finished("c");
  failed.state = VideoState::kFailed;
  conditioned.spec.conditions.emplace_back();
  other.spec.kernels.experiment = "-";
  for (const Video& video : {failed, conditioned, other}) queue.Ended(video);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(ShadowQueue, OneThatIsGivenUpHasThreeTries) {
  ShadowQueue queue(Shadowed(1));
  queue.Ended(Finished("a"));
  for (int i = 0; i < ShadowQueue::kMostTries; ++i) {
    auto candidate = TakeAny(queue);
    ASSERT_TRUE(candidate.has_value()) << i;
    queue.PutBack(*std::move(candidate));
  }
  EXPECT_FALSE(TakeAny(queue).has_value());
}

TEST(ShadowQueue, ThreeFailuresInARowAreTheLast) {
  ShadowQueue queue(Shadowed(1));
  EXPECT_FALSE(queue.NoteEnd("norms", true));
  EXPECT_FALSE(queue.NoteEnd("norms", true));
  EXPECT_FALSE(queue.NoteEnd("norms", false));
  queue.Ended(Finished("a"));
  EXPECT_FALSE(queue.NoteEnd("norms", true));
  EXPECT_FALSE(queue.NoteEnd("norms", true));
  EXPECT_TRUE(queue.NoteEnd("norms", true));
  EXPECT_EQ(queue.size(), 0u);
  queue.Ended(Finished("b"));
  EXPECT_EQ(queue.size(), 0u);
}

}  // namespace
}  // namespace reel::front
