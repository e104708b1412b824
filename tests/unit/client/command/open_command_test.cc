// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

class OpenCommandTest : public CommandTest {
 protected:
  void UseBrowser(const std::string& script) {
    environment_.browser = folder_ + "/browser";
    std::ofstream(environment_.browser) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(environment_.browser, std::filesystem::perms::owner_all);
  }
};

TEST_F(OpenCommandTest, GivesTheBrowserThePageAndPrintsIt) {
  UseBrowser("printf '%s' \"$*\" > " + folder_ + "/opened");
  EXPECT_EQ(Run({"open"}), 0) << err_;
  EXPECT_EQ(ReadAll(folder_ + "/opened"), "http://127.0.0.1:8080/");
  EXPECT_EQ(out_, "http://127.0.0.1:8080/\n");
  EXPECT_EQ(err_, "");
}

TEST_F(OpenCommandTest, PrintsTheAddressWhereNoBrowserOpensIt) {
  UseBrowser("exit 3");
  EXPECT_EQ(Run({"open"}), 0);
  EXPECT_EQ(out_, "http://127.0.0.1:8080/\n");
  EXPECT_NE(err_.find("did not open it"), std::string::npos);
  environment_.browser = folder_ + "/absent";
  EXPECT_EQ(Run({"open", "--json"}), 0);
  EXPECT_NE(out_.find("\"url\""), std::string::npos);
  EXPECT_NE(out_.find("false"), std::string::npos);
}

}  // namespace
}  // namespace reel::client
