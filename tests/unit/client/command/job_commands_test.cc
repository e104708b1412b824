// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using JobCommandsTest = CommandTest;

TEST_F(JobCommandsTest, CreatePrintsTheNameAlone) {
  EXPECT_EQ(Run({"create", "x"}), 0);
  EXPECT_EQ(out_, "videos/fake1\n");
  EXPECT_EQ(Run({"create", "x", "--validate_only"}), 0);
  EXPECT_EQ(out_, "valid\n");
  EXPECT_TRUE(server_.asked().creates.at(1).validate_only());
}

TEST_F(JobCommandsTest, CreatePrintsTheNameOfEachOfSeveral) {
  EXPECT_EQ(Run({"create", "x", "--count", "2"}), 0);
  EXPECT_EQ(out_, "videos/fake1\nvideos/fake1\n");
  EXPECT_EQ(server_.asked().creates.at(0).count(), 2);
  EXPECT_EQ(Run({"create", "x", "--count", "2", "--validate-only"}), 0);
  EXPECT_EQ(out_, "valid\n");
  EXPECT_EQ(Run({"estimate", "x", "--count", "3"}), 0);
  EXPECT_EQ(server_.asked().estimates.at(0).count(), 3);
}

TEST_F(JobCommandsTest, CancelGoesOnAfterANameThatIsUnknown) {
  EXPECT_EQ(Run({"cancel", "other", "fake1"}), 8);
  EXPECT_EQ(out_, "videos/fake1  running\n");
  EXPECT_EQ(server_.asked().cancels, 1);
}

TEST_F(JobCommandsTest, DeletePrintsWhatIsGone) {
  EXPECT_EQ(Run({"delete", "fake1"}), 0);
  EXPECT_EQ(out_, "videos/fake1\n");
  EXPECT_EQ(Run({"delete", "fake1", "--json"}), 0);
  EXPECT_EQ(out_, "{\"deleted\":\"videos/fake1\"}\n");
}

TEST_F(JobCommandsTest, EstimateSaysWhetherAJobWouldBeTaken) {
  EXPECT_EQ(Run({"estimate", "x"}), 0);
  EXPECT_NE(out_.find("would be accepted"), std::string::npos);
}

TEST_F(JobCommandsTest, EstimateSaysWhatEachKindOfDeviceWouldTake) {
  EXPECT_EQ(Run({"estimate", "x"}), 0);
  const auto row = [&](const std::string& device) {
    const size_t begin = out_.find("  on " + device + " ");
    return begin == std::string::npos ? "" : out_.substr(begin, out_.find('\n', begin) - begin);
  };
  EXPECT_NE(row("2 x Card").find("2.0 s, 90 % within 3.0 s"), std::string::npos) << out_;
  EXPECT_NE(row("Card").find("unknown: no video"), std::string::npos) << out_;
}

TEST_F(JobCommandsTest, EstimateAsksForAJobOfThatPriority) {
  EXPECT_EQ(Run({"estimate", "x", "--priority", "high"}), 0);
  EXPECT_EQ(server_.asked().estimates.at(0).priority(), v1::PRIORITY_HIGH);
}

}  // namespace
}  // namespace reel::client
