// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ServerCommandsTest = CommandTest;

TEST_F(ServerCommandsTest, TheServerIsDescribed) {
  EXPECT_EQ(Run({"info"}), 0);
  EXPECT_NE(out_.find("cpu0    ready"), std::string::npos);
  EXPECT_EQ(Run({"models"}), 0);
  EXPECT_NE(out_.find("testcard (default)"), std::string::npos);
  EXPECT_EQ(Run({"kernels"}), 0);
  EXPECT_NE(out_.find("cpu0*"), std::string::npos);
  EXPECT_EQ(Run({"experiments"}), 0);
  EXPECT_NE(out_.find("norms"), std::string::npos);
}

TEST_F(ServerCommandsTest, AWorkerIsPutBackIntoService) {
  EXPECT_EQ(Run({"restore", "gpu0"}), 0);
  EXPECT_NE(out_.find("gpu0  restarts"), std::string::npos) << out_;
  EXPECT_EQ(Run({"restore", "cpu0"}), 0);
  EXPECT_NE(out_.find("cpu0  was not out of service"), std::string::npos) << out_;
  EXPECT_EQ(Run({"restore", "nobody"}), 8);
  EXPECT_EQ(Run({"restore"}), 2);
}

TEST_F(ServerCommandsTest, AModelIsLoadedAndTakenOutOfService) {
  EXPECT_EQ(Run({"load", "testcard"}), 0);
  EXPECT_EQ(out_.find("testcard  loads"), 0U) << out_;
  EXPECT_EQ(Run({"unload", "testcard"}), 0);
  EXPECT_EQ(out_.find("testcard  takes no more requests"), 0U) << out_;
  EXPECT_EQ(Run({"--json", "load", "testcard"}), 0);
  EXPECT_NE(out_.find("MODEL_STATE_LOADING"), std::string::npos) << out_;
  EXPECT_EQ(Run({"unload", "nothing"}), 8);
  EXPECT_EQ(Run({"load"}), 2);
}

TEST_F(ServerCommandsTest, APluginThatWasRefusedIsListedWithTheReason) {
  EXPECT_EQ(Run({"kernels"}), 0);
  const size_t row = out_.find("mine");
  ASSERT_NE(row, std::string::npos);
  EXPECT_NE(out_.find("refused", row), std::string::npos);
  EXPECT_NE(out_.find("The build has no code for this device", row), std::string::npos);
}

}  // namespace
}  // namespace reel::client
