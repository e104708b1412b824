// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using DoctorTest = CommandTest;

TEST_F(DoctorTest, FindsNothingWrongWithAServerThatIsWell) {
  EXPECT_EQ(Run({"doctor"}), 0);
  EXPECT_EQ(out_.find("problem"), std::string::npos);
  EXPECT_NE(out_.find("ok       models: testcard ready\n"), std::string::npos);
  EXPECT_EQ(Run({"doctor", "--json"}), 0);
  EXPECT_EQ(out_.find("{\"checks\":[{\"name\":\"connection\",\"ok\":true"), 0u);
}

TEST_F(DoctorTest, SaysWhatIsWrong) {
  server_.Shutdown();
  EXPECT_EQ(Run({"doctor"}), 4);
  EXPECT_NE(out_.find("problem  connection"), std::string::npos);
  EXPECT_NE(out_.find("--server"), std::string::npos);
}

}  // namespace
}  // namespace reel::client
