// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using CommandLineTest = CommandTest;

TEST_F(CommandLineTest, MistakesAreUsageErrors) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"paint"},
                                             {"generate"},
                                             {"generate", "x", "--width", "wide"},
                                             {"generate", "x", "--label", "nothing"},
                                             {"generate", "x", "--timeout", "0"},
                                             {"generate", "x", "--speed", "warp"},
                                             {"generate", "x", "--preview-every", "2"},
                                             {"list", "--state", "lost"}}) {
    EXPECT_EQ(Run(arguments), 2);
    EXPECT_EQ(err_.find("error: "), 0u);
    EXPECT_EQ(out_, "");
  }
  EXPECT_EQ(Run({"generate", "x", "--widht", "3"}), 2);
  EXPECT_NE(err_.find("did you mean --width?"), std::string::npos);
  EXPECT_EQ(Run({"generat", "a fox"}), 2);
  EXPECT_EQ(err_.find("error: unknown command generat; did you mean generate?\n"), 0u) << err_;
}

TEST_F(CommandLineTest, HelpAndVersionNeedNoServer) {
  server_.Shutdown();
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_, "reel 0.1.0\n");
  EXPECT_EQ(Run({"help"}), 0);
  EXPECT_NE(out_.find("generate"), std::string::npos);
  EXPECT_EQ(Run({"help", "generate"}), 0);
  EXPECT_NE(out_.find("--negative-prompt"), std::string::npos);
}

TEST_F(CommandLineTest, HelpOnACommandThatIsNoneIsAMistake) {
  EXPECT_EQ(Run({"help", "generat"}), 2);
  EXPECT_EQ(err_.find("error: unknown command generat; did you mean generate?\n"), 0u) << err_;
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Run({"nope", "--help"}), 2);
  EXPECT_EQ(err_.find("error: unknown command nope"), 0u) << err_;
}

TEST_F(CommandLineTest, OutputThatCannotBeWrittenIsAFailure) {
  const std::vector<std::vector<std::string>> commands = {{"--version"},
                                                          {"--help"},
                                                          {"help", "generate"},
                                                          {"man"},
                                                          {"completion", "bash"},
                                                          {"list"},
                                                          {"--json", "list"},
                                                          {"--json", "models"},
                                                          {"get", "fake1"},
                                                          {"info"},
                                                          {"create", "x"},
                                                          {"estimate", "x"},
                                                          {"kernels"},
                                                          {"download", "fake1"}};
  for (std::vector<std::string> command : commands) {
    if (command[0] == "download") command.insert(command.end(), {"-o", folder_ + "/a.mp4"});
    EXPECT_EQ(Run(command, "/dev/full"), 7) << command[0];
    EXPECT_NE(err_.find("error: stdout cannot be written: No space left on device"),
              std::string::npos)
        << command[0] << ": " << err_;
  }
}

TEST_F(CommandLineTest, AVideosBytesNeverGoToATerminal) {
  environment_.out_is_terminal = true;
  for (const char* command : {"generate", "watch", "download"}) {
    EXPECT_EQ(Run({command, "x", "-o", "-"}), 2);
    EXPECT_EQ(err_.find("error: "), 0u) << err_;
    EXPECT_EQ(out_, "");
  }
  EXPECT_EQ(server_.asked().streams, 0);
}

}  // namespace
}  // namespace reel::client
