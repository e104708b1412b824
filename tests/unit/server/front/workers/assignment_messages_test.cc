// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/convert/convert.h"
#include "server/front/workers/attach_server.h"

namespace reel::front {
namespace {

TEST(AssignmentMessages, SendsPixelsInPiecesBeforeTheAssign) {
  Assignment assignment;
  assignment.ref.job = "j";
  assignment.ref.attempt = 2;
  assignment.time_left = absl::Seconds(30);
  assignment.alone = true;
  assignment.spec.prompt = "a lighthouse";
  assignment.spec.conditions.resize(2);
  const std::string pixels(kConditionPieceBytes * 2 + 5, 'p');
  assignment.spec.conditions[1].bytes = std::make_shared<const std::string>(pixels);
  assignment.spec.conditions[1].kind = model::Condition::Kind::kVideo;

  const auto messages = MakeAssignmentMessages(assignment);
  ASSERT_EQ(messages.size(), 4u);
  std::string joined;
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(messages[i].has_condition_data());
    EXPECT_EQ(messages[i].condition_data().index(), 1);
    joined += messages[i].condition_data().data();
  }
  EXPECT_EQ(joined, pixels);
  const worker::v1::Assign& assign = messages[3].assign();
  EXPECT_EQ(assign.job(), "j");
  EXPECT_EQ(assign.attempt(), 2);
  EXPECT_EQ(assign.time_left().seconds(), 30);
  EXPECT_TRUE(assign.alone());
  EXPECT_EQ(assign.spec().prompt(), "a lighthouse");
  EXPECT_EQ(assign.spec().conditions(1).video(), "");
  EXPECT_TRUE(assign.spec().conditions(1).has_video());
}

TEST(AssignmentMessages, SendsAStateInOrderedPiecesBeforeTheAssignThatTellsItsSize) {
  Assignment assignment;
  assignment.ref.job = "j";
  const std::string state(kConditionPieceBytes + 5, 's');
  assignment.state_size_bytes = static_cast<int64_t>(state.size());
  assignment.spec.source.emplace();
  assignment.spec.source->state = std::make_shared<const std::string>(state);
  const auto messages = MakeAssignmentMessages(assignment);
  ASSERT_EQ(messages.size(), 3u);
  std::string joined;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(messages[i].state_data().job(), "j");
    EXPECT_EQ(messages[i].state_data().offset(), static_cast<int64_t>(joined.size()));
    joined += messages[i].state_data().data();
  }
  EXPECT_EQ(joined, state);
  EXPECT_EQ(messages[2].assign().state_size_bytes(), assignment.state_size_bytes);
}

TEST(AssignmentMessages, LeavesAnEndlessDeadlineOut) {
  Assignment assignment;
  assignment.time_left = absl::InfiniteDuration();
  const auto messages = MakeAssignmentMessages(assignment);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_FALSE(messages[0].assign().has_time_left());
}

}  // namespace
}  // namespace reel::front
