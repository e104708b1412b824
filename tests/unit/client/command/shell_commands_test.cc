// SPDX-License-Identifier: Apache-2.0
// Completions and the manual page; a real bash runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;

class ShellCommandsTest : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    server_.Shutdown();  // none is needed
  }
  // The words that bash offers for the last of these; it is spelt as in a shell.
  std::string Offered(const std::string& words) {
    EXPECT_EQ(Run({"completion", "bash"}), 0) << err_;
    const std::string script = folder_ + "/completion.bash";
    std::ofstream(script) << out_;
    const std::string command = "bash -uc 'source " + script + "; COMP_WORDS=(" + words +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _reel; echo "
                                "\"${COMPREPLY[*]-}\"' 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string offered;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) offered += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0);
    return offered;
  }
};

TEST_F(ShellCommandsTest, BashOffersWhatCanStandThere) {
  EXPECT_EQ(Offered("reel ge"), "generate get\n");
  EXPECT_EQ(Offered("reel --server x can"), "cancel\n");
  EXPECT_EQ(Offered("reel help est"), "estimate\n");
  EXPECT_EQ(Offered("reel generate a --ima"), "--image --image-crf\n");
  EXPECT_EQ(Offered("reel generate a --js"), "--json\n");
  EXPECT_EQ(Offered("reel generate a --priority \"\""), "low normal high\n");
  // Files, which is bash's own part.
  EXPECT_EQ(Offered("reel generate a -o \"\""), "\n");
}

TEST_F(ShellCommandsTest, OtherShellsGetTheSameWords) {
  EXPECT_EQ(Run({"completion", "zsh"}), 0);
  EXPECT_THAT(out_, HasSubstr("bashcompinit"));
  EXPECT_THAT(out_, HasSubstr("'low normal high'"));
  EXPECT_EQ(Run({"completion", "fish"}), 0);
  EXPECT_THAT(out_,
              HasSubstr("complete -c reel -n '__fish_seen_subcommand_from generate' -l output "
                        "-s o -r -d 'File to write"));
  EXPECT_THAT(out_, HasSubstr("-l tls -d 'Use TLS, with the system'\\''s certificates'\n"));
  EXPECT_EQ(Run({"completion", "tcsh"}), 2);
}

TEST_F(ShellCommandsTest, TheManualHasEveryCommand) {
  EXPECT_EQ(Run({"man"}), 0);
  EXPECT_THAT(out_, HasSubstr(".TH REEL 1 \"\" \"reel 0.1.0\""));
  for (const char* command : {"generate", "watch", "doctor", "completion", "man"}) {
    EXPECT_THAT(out_, HasSubstr(std::string(".SS reel ") + command + "\n"));
  }
  EXPECT_THAT(out_, HasSubstr("\\fB\\-\\-speed\\fR \\fIultrafast|superfast|"));
  EXPECT_THAT(out_, HasSubstr("Exit codes: 0 done"));
}

}  // namespace
}  // namespace reel::client
