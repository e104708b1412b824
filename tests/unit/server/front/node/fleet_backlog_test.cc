// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/node/fleet_use.h"

namespace reel::front {
namespace {

TEST(FleetBacklog, IsAGuessUntilAVideoOfTheModelHasEnded) {
  FleetBacklog backlog;
  backlog.Add("m", false, 100);
  backlog.Add("m", true, 300);
  EXPECT_EQ(backlog.models().at("m").queued, 1);
  EXPECT_EQ(backlog.models().at("m").claimed, 1);
  EXPECT_GT(backlog.models().at("m").seconds(), 0);
  EXPECT_FALSE(backlog.models().at("m").is_known());
  backlog.SetPaces({{"m", {5, 200}}});
  EXPECT_TRUE(backlog.models().at("m").is_known());
  EXPECT_DOUBLE_EQ(backlog.models().at("m").seconds(), 10);
}

TEST(FleetBacklog, GoesWithTheLatestVideos) {
  FleetBacklog backlog;
  backlog.Add("m", false, 1000);
  ModelPace pace;
  for (int i = 0; i < 200; ++i) pace.Learn(1000, 4);
  backlog.SetPaces({{"m", pace}});
  EXPECT_NEAR(backlog.models().at("m").seconds(), 4, 1e-6);
  for (int i = 0; i < 200; ++i) pace.Learn(1000, 8);
  backlog.SetPaces({{"m", pace}});
  EXPECT_NEAR(backlog.models().at("m").seconds(), 8, 0.01);
}

TEST(FleetBacklog, IsEmptyOnceAllIsDone) {
  FleetBacklog backlog;
  ModelPace pace;
  pace.Learn(10, 1);
  pace.Learn(10, 0);  // it tells nothing of its cost
  backlog.SetPaces({{"m", pace}});
  backlog.Add("m", false, 30);
  backlog.Remove("m", false, 30);
  backlog.Add("m", true, 30);
  EXPECT_DOUBLE_EQ(backlog.models().at("m").seconds(), 3);
  backlog.Remove("m", true, 30);
  EXPECT_EQ(backlog.models().at("m").seconds(), 0);
}

TEST(FleetBacklog, CountsPixelsFramesAndSteps) {
  model::GenerationSpec spec;
  spec.width = 64;
  spec.height = 32;
  spec.num_frames = 9;
  spec.num_inference_steps = 4;
  EXPECT_EQ(PixelStepsOf(spec), int64_t{64} * 32 * 9 * 4);
}

}  // namespace
}  // namespace reel::front
