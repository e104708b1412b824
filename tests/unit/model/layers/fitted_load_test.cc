// SPDX-License-Identifier: Apache-2.0
#include "model/layers/fitted_load.h"

#include <memory>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/device_test.h"

namespace reel::model {
namespace {

class FittedLoadTest : public DeviceTest {};

FitPlan PlanOf(Place text, int resident, int streamed) {
  FitPlan plan;
  plan.text = text;
  plan.resident_blocks = resident;
  plan.streamed_blocks = streamed;
  plan.ring_slots = text == Place::kHost || streamed > 0 ? 2 : 0;
  plan.slot_bytes = 4096;
  return plan;
}

TEST_F(FittedLoadTest, HasNoRingWhereNothingStreams) {
  for (const std::optional<FitPlan>& plan :
       {std::optional<FitPlan>(), std::optional(PlanOf(Place::kDevice, 4, 0))}) {
    const auto load = FittedLoad::Make(plan, device_);
    ASSERT_TRUE(load.ok()) << load.status();
    EXPECT_EQ(load->text_ring(), nullptr);
    EXPECT_EQ(load->block_ring(), nullptr);
    EXPECT_FALSE(load->Streams(0));
  }
}

TEST_F(FittedLoadTest, SharesOneRingBetweenTextAndBlocks) {
  const auto load = FittedLoad::Make(PlanOf(Place::kHost, 2, 2), device_);
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_NE(load->text_ring(), nullptr);
  EXPECT_EQ(load->text_ring(), load->block_ring());
  EXPECT_EQ(load->text_ring()->device_bytes(), 2 * 4096);
  EXPECT_FALSE(load->Streams(0));
  EXPECT_TRUE(load->Streams(1));
}

TEST_F(FittedLoadTest, IsRefusedWhereTheHostHasNoRoomForWhatStreams) {
  FitPlan plan = PlanOf(Place::kHost, 4, 0);
  plan.parts = {{"text encoder", 0, 4096}};
  EXPECT_TRUE(FittedLoad::Make(plan, device_, HostMemory{4096}).ok());
  EXPECT_EQ(FittedLoad::Make(plan, device_, HostMemory{4095}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(FittedLoadTest, StreamsWhatThePlanStreamsAlone) {
  const auto text = FittedLoad::Make(PlanOf(Place::kHost, 4, 0), device_);
  const auto blocks = FittedLoad::Make(PlanOf(Place::kDevice, 0, 4), device_);
  ASSERT_TRUE(text.ok() && blocks.ok());
  EXPECT_EQ(text->block_ring(), nullptr);
  EXPECT_FALSE(text->Streams(3));
  EXPECT_EQ(blocks->text_ring(), nullptr);
  EXPECT_TRUE(blocks->Streams(0));
}

}  // namespace
}  // namespace reel::model
