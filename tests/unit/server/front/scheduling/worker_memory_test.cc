// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/scheduling/planned_worker.h"

namespace reel::front {
namespace {

class WorkerMemoryTest : public ::testing::Test {
 protected:
  WorkerMemoryTest() {
    worker_.info.memory.total = 1000;
    worker_.loaded = {"m"};
    cards_["m"].weight_bytes = 100;
    cards_["other"].weight_bytes = 300;
  }
  void Hold(const std::string& job, int64_t bytes) { worker_.held[job].memory_bytes = bytes; }
  bool HasRoomFor(int64_t bytes, const JobIds& parked = {}) const {
    return Fits(worker_, NeedOf(bytes), cards_, parked);
  }
  static Need NeedOf(int64_t bytes) {
    Need need;
    need.model = "m";
    need.memory_bytes = bytes;
    return need;
  }

  PlannedWorker worker_;
  Cards cards_;
};

TEST_F(WorkerMemoryTest, GivesWhatModelsAndJobsLeave) {
  EXPECT_TRUE(HasRoomFor(850));
  EXPECT_FALSE(HasRoomFor(851));  // a twentieth is nobody's
  Hold("a", 400);
  EXPECT_TRUE(HasRoomFor(450));
  EXPECT_FALSE(HasRoomFor(451));
  worker_.loading = {"other"};
  EXPECT_TRUE(HasRoomFor(150));
  EXPECT_FALSE(HasRoomFor(151));
}

TEST_F(WorkerMemoryTest, OneThatWouldBeParkedLeavesAndOneThatIsComesBack) {
  Hold("a", 400);
  Hold("b", 400);
  EXPECT_FALSE(HasRoomFor(100));
  EXPECT_TRUE(HasRoomFor(450, {"a"}));
  worker_.held["a"].parked_for = "b";
  EXPECT_FALSE(HasRoomFor(100));
}

TEST_F(WorkerMemoryTest, WhatOthersTakeIsNotThere) {
  worker_.info.memory.held = 500;
  worker_.info.memory.reserved = 460;
  EXPECT_TRUE(HasRoomFor(850));  // a context is within the margin
  worker_.info.memory.held = 710;
  EXPECT_TRUE(HasRoomFor(650));
  EXPECT_FALSE(HasRoomFor(651));
}

TEST_F(WorkerMemoryTest, WithoutAnAccountEverythingFits) {
  worker_.info.memory.total = 0;
  EXPECT_TRUE(HasRoomFor(int64_t{1} << 50));
  EXPECT_FALSE(NeedAlone(worker_, NeedOf(1), cards_).has_value());
}

TEST_F(WorkerMemoryTest, AloneAJobHasAllButTheOtherModels) {
  Hold("a", 400);
  worker_.info.memory.held = 900;
  worker_.loaded = {"m", "other"};
  const auto alone = NeedAlone(worker_, NeedOf(600), cards_);
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->needed, 700);
  EXPECT_EQ(alone->there, 650);
}

}  // namespace
}  // namespace reel::front
