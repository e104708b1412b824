// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/video_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/memory_serializer.h"

namespace reel::front {
namespace {

class VideoIndexTest : public ::testing::Test {
 protected:
  // A video that is asked for.
  FleetJob& Ask(const std::string& tenant, const std::string& id,
                Priority priority = Priority::kNormal, const std::string& model = "card") {
    Video video;
    video.spec.model = model;
    video.priority = priority;
    video.create_time = absl::FromUnixSeconds(++asked_);
    video.deadline = video.create_time + absl::Minutes(10);
    FleetJob& job = jobs_[{tenant, id}];
    job.requested = static_cast<uint64_t>(asked_);
    job.video = serializer_.Serialize(video);
    index_.Update({tenant, id}, job);
    return job;
  }
  void Claim(const std::string& tenant, const std::string& id) {
    FleetJob& job = jobs_[{tenant, id}];
    job.phase = FleetPhase::kClaimed;
    ++job.epoch;
    index_.Update({tenant, id}, job);
  }
  std::vector<std::string> Head(size_t window, const std::map<std::string, double>& weights = {}) {
    std::vector<std::string> ids;
    for (const auto& key : index_.Head(window, weights, [](const KnownVideo&) { return true; })) {
      ids.push_back(key.second);
    }
    return ids;
  }

  reel::testing::MemorySerializer serializer_;
  const Seal seal_;
  VideoIndex index_{LoggedVideos(serializer_, seal_)};
  std::map<VideoIndex::Key, FleetJob> jobs_;
  int64_t asked_ = 0;
};

using Ids = std::vector<std::string>;

TEST_F(VideoIndexTest, TenantsTakeTurnsHoweverMuchOneAsksFor) {
  for (int i = 0; i < 5; ++i) Ask("a", "a" + std::to_string(i));
  Ask("b", "b0");
  Ask("b", "b1");
  EXPECT_EQ(Head(4), (Ids{"a0", "b0", "a1", "b1"}));
  // What runs counts.
  Claim("a", "a0");
  Claim("a", "a1");
  EXPECT_EQ(Head(3), (Ids{"b0", "b1", "a2"}));
  EXPECT_EQ(index_.queued(), 5);
  EXPECT_EQ(index_.Live("a"), 5);
}

TEST_F(VideoIndexTest, WeightsAreShares) {
  for (int i = 0; i < 6; ++i) Ask("a", "a" + std::to_string(i));
  for (int i = 0; i < 6; ++i) Ask("b", "b" + std::to_string(i));
  EXPECT_EQ(Head(6, {{"b", 2}}), (Ids{"b0", "a0", "b1", "b2", "a1", "b3"}));
}

TEST_F(VideoIndexTest, OfOneTenantThePriorityCountsThenTheAge) {
  Ask("a", "low", Priority::kLow);
  Ask("a", "normal");
  Ask("a", "high", Priority::kHigh);
  Ask("a", "later");
  EXPECT_EQ(Head(10), (Ids{"high", "normal", "later", "low"}));
}

TEST_F(VideoIndexTest, WhatIsNotAcceptedHoldsUpNobody) {
  for (int i = 0; i < 10; ++i) Ask("a", "other" + std::to_string(i), Priority::kHigh, "other");
  Ask("a", "mine");
  const auto head =
      index_.Head(1, {}, [](const KnownVideo& video) { return video.model == "card"; });
  ASSERT_EQ(head.size(), 1U);
  EXPECT_EQ(head[0].second, "mine");
}

TEST_F(VideoIndexTest, WhatHasEndedIsNotInIt) {
  FleetJob& job = Ask("a", "v");
  Claim("a", "v");
  EXPECT_EQ(index_.claimed().size(), 1U);
  job.phase = FleetPhase::kFailed;
  index_.Update({"a", "v"}, job);
  EXPECT_TRUE(index_.claimed().empty());
  EXPECT_TRUE(index_.deadlines().empty());
  EXPECT_EQ(index_.Live("a"), 0);
  EXPECT_EQ(index_.FindLive({"a", "v"}), nullptr);
  index_.Update({"a", "v"}, job);  // it was deleted, say
  EXPECT_EQ(index_.FindLive({"a", "v"}), nullptr);
}

TEST_F(VideoIndexTest, WhatCannotBeReadIsInNoQueue) {
  FleetJob job;
  job.video = "nothing of the kind";
  index_.Update({"a", "bad"}, job);
  EXPECT_TRUE(Head(10).empty());
  EXPECT_EQ(index_.queued(), 0);
  job.phase = FleetPhase::kClaimed;
  index_.Update({"a", "bad"}, job);
  EXPECT_TRUE(index_.claimed().empty());
}

TEST_F(VideoIndexTest, OfWhatIsSealedAClaimIsKnownAndNothingElse) {
  const Seal other({std::string(32, 'k')});
  FleetJob job;
  job.video = LoggedVideos(serializer_, other).Write({"a", "v"}, Video());
  index_.Update({"a", "v"}, job);
  EXPECT_TRUE(Head(10).empty());
  EXPECT_EQ(index_.locked(), 1);
  job.phase = FleetPhase::kClaimed;
  index_.Update({"a", "v"}, job);
  EXPECT_EQ(index_.claimed().size(), 1U);
  EXPECT_TRUE(index_.FindLive({"a", "v"})->locked);
  job.phase = FleetPhase::kQueued;
  index_.Update({"a", "v"}, job);
  EXPECT_TRUE(index_.claimed().empty());
  job.phase = FleetPhase::kSucceeded;
  index_.Update({"a", "v"}, job);
  EXPECT_EQ(index_.locked(), 0);
}

}  // namespace
}  // namespace reel::front
