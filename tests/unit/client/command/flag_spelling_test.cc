// SPDX-License-Identifier: Apache-2.0
#include "client/command/flag_spelling.h"

#include <gtest/gtest.h>

namespace reel::client {
namespace {

using Arguments = std::vector<std::string>;

TEST(WithDashes, TakesBothSpellingsOfAFlag) {
  EXPECT_EQ(WithDashes({"generate", "--negative_prompt", "a_b", "--token_file=my_file"}),
            (Arguments{"generate", "--negative-prompt", "a_b", "--token-file=my_file"}));
}

TEST(WithDashes, LeavesValuesAlone) {
  EXPECT_EQ(WithDashes({"a_b", "-o", "out_1.mp4", "--", "--not_a_flag"}),
            (Arguments{"a_b", "-o", "out_1.mp4", "--", "--not_a_flag"}));
  EXPECT_EQ(WithDashes({"--a prompt_with blanks"}), (Arguments{"--a prompt_with blanks"}));
}

TEST(NearestFlag, GuessesOnlyWhatIsNear) {
  const Arguments known = {"--width", "--height", "--seed"};
  EXPECT_EQ(NearestFlag("--widht", known), "--width");
  EXPECT_EQ(NearestFlag("--heigh", known), "--height");
  EXPECT_EQ(NearestFlag("--colour", known), "");
}

}  // namespace
}  // namespace reel::client
