// SPDX-License-Identifier: Apache-2.0
#include "server/front/health/health_board.h"

#include <gtest/gtest.h>

#include <atomic>

namespace reel::front {
namespace {

class Watcher final : public HealthWatcher {
 public:
  void HealthChanged() override { ++changes; }
  std::atomic<int> changes = 0;
};

TEST(HealthBoard, StartsAliveButNotAdmitting) {
  const HealthBoard board;
  EXPECT_EQ(board.Serving(""), false);
  EXPECT_EQ(board.Serving("reel.v1.VideoService"), false);
  EXPECT_EQ(board.Serving("reel.v1.ServerService"), true);
  EXPECT_EQ(board.Serving("liveness"), true);
  EXPECT_EQ(board.Serving("startup"), false);
  EXPECT_EQ(board.Serving("other"), std::nullopt);
}

TEST(HealthBoard, ALostWorkerFailsReadinessOnly) {
  HealthBoard board;
  board.SetAdmitting(true);
  board.SetStarted();
  board.SetAdmitting(false);
  EXPECT_EQ(board.Serving(""), false);
  EXPECT_EQ(board.Serving("startup"), true);
  EXPECT_EQ(board.Serving("liveness"), true);
}

TEST(HealthBoard, ADrainIsFinal) {
  HealthBoard board;
  board.SetAdmitting(true);
  board.Drain();
  EXPECT_EQ(board.Serving(""), false);
  board.SetAdmitting(true);
  EXPECT_EQ(board.Serving(""), false);
  EXPECT_EQ(board.Serving("reel.v1.ServerService"), true);
}

TEST(HealthBoard, TellsChangesAndNothingElse) {
  HealthBoard board;
  auto watcher = std::make_shared<Watcher>();
  board.Watch(watcher);
  board.SetAdmitting(false);
  EXPECT_EQ(watcher->changes, 0);
  board.SetAdmitting(true);
  EXPECT_EQ(watcher->changes, 1);
  board.SetAdmitting(true);
  EXPECT_EQ(watcher->changes, 1);
  board.Close();
  EXPECT_EQ(watcher->changes, 2);
  EXPECT_TRUE(board.closed());
}

}  // namespace
}  // namespace reel::front
